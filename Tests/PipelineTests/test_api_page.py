"""What the page of the API shows, run as it is printed."""

import json
import pathlib
import re
import subprocess

PAGE = pathlib.Path(__file__).resolve().parents[2] / "Services" / "Gateway" / "API.md"


# What apps send, with an answer and without.
ASKED = {
    "client:ping", "room:leave", "element:create", "elements:create", "element:transform", "elements:transform",
    "element:gesture", "elements:gesture", "element:preset", "element:update", "element:delete", "elements:delete", "elements:animate",
    "elements:throw", "elements:halt", "history:undo", "history:redo", "selection:set", "presence:set", "viewport:set",
    "room:signal",
}
SHOWN = {"element:transforming", "element:gesturing", "elements:gesturing", "cursor:moving"}
# What the other app gets of those.
ARRIVAL = {
    "element:transforming": "element:transforming", "element:gesturing": "element:transforming",
    "elements:gesturing": "elements:transforming", "cursor:moving": "cursor:moved",
}


def examples():
    """The events of apps that the page shows, by block: name and payload. A payload with an ellipsis is no example."""
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE):
        if language:
            continue
        found = []
        for line in re.finditer(r"^([a-z]+:[a-z]+)(?: ★)? +(?=\{)", block, re.MULTILINE):
            try:
                payload, _ = json.JSONDecoder().raw_decode(block, line.end())
            except json.JSONDecodeError:
                continue
            if line[1] in ASKED | SHOWN and "userId" not in payload:
                found.append((line[1], payload))
        if found:
            yield found


def named(payload):
    """The ids of the elements that an event names."""
    entries = [payload, *(entry if isinstance(entry, dict) else {"elementId": entry} for entry in payload.get("elements", []))]
    return [entry["elementId"] for entry in entries if "elementId" in entry] + payload.get("elementIds", [])


def emitted(section):
    """The events that the code of a section emits, by Node."""
    text = PAGE.read_text()
    code = re.search(rf"^#+ {section}\n.*?^```js\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1]
    shell = "const roomId = 'r', socket = { emit: (...event) => console.log(JSON.stringify(event)) };\n"
    output = subprocess.run(["node", "--eval", shell + code], capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def test_the_example_of_motion(single, apps, room):
    ada = apps(single.url, "ada")
    ada.join(room)
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "note-1"}})
    events = emitted("Motion")
    elements = [ada.ok(event, {**payload, "roomId": room})["element"] for event, payload in events]
    assert [event for event, _ in events] == [
        "element:transform", "element:transform", "element:animate", "element:throw", "element:halt",
    ]
    turned, sprung, pulsing, thrown, halted = elements
    assert set(turned["motion"]) == {"rotation", "opacity"} and sprung["motion"]["positionX"]["segments"][0]["from"] == 310
    assert set(pulsing["animation"]["tracks"]) == {"scaleX", "scaleY"} and set(thrown["motion"]) > {"positionX", "positionY"}
    assert "animation" not in halted and "motion" not in halted


def test_each_example_is_accepted(single, apps, room):
    ada, bob = apps(single.url, "ada"), apps(single.url, "bob")
    done = set()
    for number, block in enumerate(examples()):
        here = f"{room}-{number}"
        ada.join(here), bob.join(here)
        known = {payload["element"]["id"] for event, payload in block if event == "element:create"}
        known |= {entry["id"] for event, payload in block if event == "elements:create" for entry in payload["elements"]}
        for id in dict.fromkeys(id for _, payload in block for id in named(payload) if id not in known):
            ada.ok("element:create", {"roomId": here, "element": {"type": "note", "id": id}})
        if any(event.startswith("history:") for event, _ in block):
            ada.ok("element:create", {"roomId": here, "element": {"type": "note"}})
        for event, payload in block:
            payload = {key: here if key == "roomId" else value for key, value in payload.items() if key not in ("n", "past")}
            if event in ASKED:
                ada.ok(event, payload)
            else:
                ada.send(event, payload)
                bob.wait(ARRIVAL[event], lambda got: got["roomId"] == here and got.get("gesture") == payload.get("gesture"))
            done.add(event)
    assert done == ASKED | SHOWN
