"""What the page of the API shows, run as it is printed."""

import json
import pathlib
import re
import subprocess

PAGE = pathlib.Path(__file__).resolve().parents[2] / "Services" / "Gateway" / "API.md"


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
