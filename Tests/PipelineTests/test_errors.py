"""Bad input gets its code and its field, and hurts nobody."""

import json
import re

import pytest
import websocket

from raw import Raw
from shapes import assert_element

HUGE = "x" * 9000
# One byte longer than a picture may be.
PICTURE = "data:image/png;base64,".ljust((128 << 10) + 1, "A")


@pytest.fixture(scope="module")
def clerk(single):
    """One app for the whole table, in one room with one element."""
    from app import App

    app = App(single.url, "clerk").connect()
    app.join("errors")
    app.ok("element:create", {"roomId": "errors", "element": {"type": "note", "id": "e"}})
    yield app
    app.close()


# One fault of each reader on a commit's way. What else each of them refuses, its own tests say.
BAD = [
    # The gateway: the payload, the room, and what all commits may say.
    ("element:transform", None, "invalid", None),
    ("element:transform", {"roomId": ..., "elementId": "e", "positionX": 1}, "invalid", "roomId"),
    ("element:transform", {"roomId": 1, "elementId": "e", "positionX": 1}, "invalid", "roomId"),
    ("element:transform", {"roomId": "elsewhere", "elementId": "e", "positionX": 1}, "forbidden", None),
    ("element:create", {"element": {"type": "note", "own": ["\u0000"]}}, "invalid", "element.own[0]"),
    ("element:update", {"elementId": "e", "set": {"a": {"b\u0000": 1}}}, "invalid", "set.a.b\ufffd"),
    ("element:create", {"element": {f"k{index}": 1 for index in range(97)}}, "too_large", "element"),
    ("element:transform", {"elementId": "e", "positionX": 1, "gesture": 0}, "invalid", "gesture"),
    ("element:transform", {"elementId": "e", "positionX": 1, "gesture": 1.5}, "invalid", "gesture"),
    ("element:transform", {"elementId": "e", "positionX": 1, "gesture": "1"}, "invalid", "gesture"),
    ("element:transform", {"elementId": "e", "positionX": 1, "undoGroup": ""}, "invalid", "undoGroup"),
    ("element:transform", {"elementId": "e", "positionX": 1, "undoGroup": "x" * 65}, "invalid", "undoGroup"),
    ("element:preset", {"elementId": "e", "preset": "reset", "undoGroup": ["x"]}, "invalid", "undoGroup"),
    ("element:preset", {"elementId": "e", "preset": "reset", "undoable": "false"}, "invalid", "undoable"),
    ("element:delete", {"elementId": "e", "traceparent": ""}, "invalid", "traceparent"),
    # The edits.
    ("element:transform", {"positionX": 1}, "invalid", "elementId"),
    ("element:transform", {"elementId": "e", "transform": {"scaleX": "2"}}, "invalid", "transform.scaleX"),
    ("element:transform", {"elementId": "e", "transform": {"opacity": None}}, "invalid", "transform.opacity"),
    ("element:transform", {"elementId": "e", "opacity": 0.5}, "invalid", "transform"),
    ("element:create", {"element": {"type": "note", "opacity": "half"}}, "invalid", "element.opacity"),
    ("element:update", {"elementId": "e", "set": {"opacity": 0.5}}, "invalid", "set.opacity"),
    ("element:transform", {"elementId": "e", "positionZ": "1"}, "invalid", "positionZ"),
    ("element:transform", {"elementId": "e", "transform": {"perspective": None}}, "invalid", "transform.perspective"),
    ("element:transform", {"elementId": "e", "transform": {"rotationY": {}}}, "invalid", "transform.rotationY"),
    ("element:create", {"element": {"type": "note", "rotationX": []}}, "invalid", "element.rotationX"),
    ("element:update", {"elementId": "e", "set": {"positionZ": 1}}, "invalid", "set.positionZ"),
    ("element:gesture", {"elementId": "e", "tilt": 5}, "invalid", "tilt"),
    ("elements:create", {"elements": [{"type": "note"}, {}]}, "invalid", "elements[1].type"),
    ("elements:create", {"elements": [{"type": "note"}] * 501}, "too_large", None),
    ("element:create", {"element": {"type": "note", "own": HUGE}}, "too_large", None),
    ("element:create", {"element": {"type": "photo", "picture": PICTURE}}, "too_large", "element.picture"),
    ("elements:create", {"elements": [{"type": "photo"}, {"type": "photo", "picture": PICTURE}]}, "too_large", "elements[1].picture"),
    ("element:create", {"element": {"type": "photo", "thumbnail": PICTURE}}, "too_large", "element"),
    ("element:update", {"elementId": "e", "set": {"picture": PICTURE}}, "too_large", "set.picture"),
    ("element:update", {"elementId": "e", "set": {"picture": "https://a.example/" + HUGE}}, "too_large", "set.picture"),
    ("element:update", {"elementId": "e", "set": {"positionX": None}}, "invalid", "set.positionX"),
    ("element:update", {"elementId": "e", "set": {"big": HUGE}}, "too_large", None),
    ("element:create", {"element": {"type": "note", "constraints": None}}, "invalid", "element.constraints"),
    ("element:update", {"elementId": "e", "set": {"constraints": {"axis": "z"}}}, "invalid", "set.constraints.axis"),
    ("element:update", {"elementId": "e", "set": {"constraints": {"rotation": {"min": 0, "max": 361}}}}, "invalid",
     "set.constraints.rotation.max"),
    ("elements:create", {"elements": [{"type": "note", "constraints": {"scale": {"min": 0, "max": 1}}}]}, "invalid",
     "elements[0].constraints.scale.min"),
    ("element:update", {"elementId": "e", "set": {"constraints": {"grid": {"x": 0}}}}, "invalid", "set.constraints.grid.x"),
    ("element:create", {"element": {"type": "guide"}}, "invalid", "element.axis"),
    ("element:create", {"element": {"type": "guide", "axis": "z"}}, "invalid", "element.axis"),
    ("history:undo", {"past": 0}, "invalid", "past"),
    # Motion.
    ("element:transform", {"elementId": "e", "positionX": 1, "motion": {"ms": 0}}, "invalid", "motion.ms"),
    ("element:transform", {"elementId": "e", "positionX": 1, "motion": {"spring": {"response": 99}}}, "invalid",
     "motion.spring.response"),
    ("elements:transform", {"elements": [{"elementId": "e", "positionX": 1, "from": {"width": 1}}], "motion": {"ms": 9}},
     "invalid", "elements[0].from.width"),
    ("element:create", {"element": {"type": "note", "animation": {"ms": 16, "tracks": {}}}}, "invalid",
     "element.animation.tracks"),
    ("element:create", {"element": {"type": "audio", "animation": {"ms": 16, "tracks": {"rotation": [{"at": 0, "value": 1}]}}}},
     "invalid", "element.animation.tracks.rotation"),
    ("element:update", {"elementId": "e", "set": {"animation": None}}, "invalid", "set.animation"),
    ("element:update", {"elementId": "e", "set": {"motion": {}}}, "invalid", "set.motion"),
    ("element:animate", {"elementId": "e", "animation": {"ms": 16, "tracks": {"rotation": [{"at": 2, "value": 1}]}}}, "invalid",
     "animation.tracks.rotation[0].at"),
    ("elements:animate", {"elements": ["e"], "animation": None, "staggerMs": -1}, "invalid", "staggerMs"),
    ("element:halt", {"elementId": "e", "fields": ["colour"]}, "invalid", "fields[0]"),
    ("elements:halt", {"elements": ["e", "e"]}, "invalid", "elements[1]"),
    ("element:throw", {"elementId": "e"}, "invalid", "velocity"),
    ("element:throw", {"elementId": "e", "velocity": {"x": 1, "y": 1}, "rate": 1}, "invalid", "rate"),
    ("elements:throw", {"elements": [{"elementId": "e"}], "velocity": {"x": 1, "y": 1}, "angularVelocity": 1}, "invalid",
     "angularVelocity"),
    # The committer.
    ("element:transform", {"elementId": "nobody", "positionX": 1}, "not_found", None),
    ("element:create", {"element": {"type": "note", "id": "e"}}, "conflict", None),
    ("elements:transform", {"elements": [{"elementId": "x", "positionX": 1}]}, "not_found", "elements[0].elementId"),
    # What is no commit.
    ("room:join", {"resume": {"epoch": "e"}}, "invalid", "resume.seq"),
    ("viewport:set", {"x": 0, "y": 0, "width": -1, "height": 5}, "invalid", "width"),
    ("viewport:set", {"share": "yes"}, "invalid", "share"),
    ("selection:set", {"elementIds": ["e", ""]}, "invalid", "elementIds[1]"),
    ("room:signal", {}, "invalid", "name"),
    ("room:signal", {"name": "n" * 65}, "invalid", "name"),
    ("room:signal", {"name": "n", "data": "d" * 4096}, "too_large", "data"),
    ("presence:set", {}, "invalid", "state"),
    ("presence:set", {"state": None}, "invalid", "state"),
    ("presence:set", {"state": "typing"}, "invalid", "state"),
    ("presence:set", {"state": {"text": "x" * 1024}}, "too_large", "state"),
    ("__proto__", {}, "unknown_event", None),
]


@pytest.mark.parametrize("event, payload, code, field", BAD, ids=lambda value: re.sub(r"\W+", "-", str(value))[:40])
def test_bad_input_gets_its_code(clerk, event, payload, code, field):
    if isinstance(payload, dict):
        payload = {"roomId": "errors", **payload}
        if payload["roomId"] is ...:
            del payload["roomId"]
    clerk.refused(event, payload, code, field)
    # Nothing of it happened.
    answer = clerk.ok("element:transform", {"roomId": "errors", "elementId": "e", "positionX": 0})
    assert_element(answer["element"], positionX=0, rotation=0, scaleX=1)


# Texts that a JSON library does not write, each as the arguments of an event with an acknowledgement id.
RAW = {
    "comma": '["element:transform",{"roomId":"ROOM","elementId":"e","positionX":1,}]',
    "infinity": '["element:transform",{"roomId":"ROOM","elementId":"e","positionX":1e999}]',
    "20,000 keys": '["element:create",{"roomId":"ROOM","element":{' + ",".join(f'"{index}":1' for index in range(20_000)) + "}}]",
}


@pytest.mark.parametrize("text", sorted(RAW))
def test_bad_json_is_refused_and_the_connection_stays(raw, room, text):
    answer = raw.ask(RAW[text].replace("ROOM", room), 12)
    assert answer["ok"] is False and answer["error"]["code"] in ("invalid", "too_large"), answer
    answer = raw.ask(json.dumps(["element:create", {"roomId": room, "element": {"type": "note"}}]), 13)
    assert answer["ok"] is True and answer["seq"] == 1


def test_pongs_that_nobody_asked_for_change_nothing(raw, room):
    for _ in range(4000):
        raw.say("3")
    assert raw.ask(json.dumps(["element:create", {"roomId": room, "element": {"type": "note"}}]))["ok"]


def test_an_acknowledgement_that_nobody_asked_for_changes_nothing(raw, room):
    raw.say('435["x"]')
    assert raw.ask(json.dumps(["element:create", {"roomId": room, "element": {"type": "note"}}]))["ok"]


def test_too_many_unreadable_messages_end_the_connection(raw):
    for _ in range(40):
        try:
            raw.say('42["element:transform",{]')
        except (OSError, websocket.WebSocketException):
            break
    assert raw.is_closed()


def test_well_formed_refusals_never_end_the_connection(raw, room):
    for index in range(60):
        answer = raw.ask(json.dumps(["element:nothing", {"roomId": room}]), index)
        assert answer["error"]["code"] == "unknown_event"




def test_a_number_is_used_up_by_any_well_formed_text(raw, room):
    raw.ask(json.dumps(["element:create", {"roomId": room, "element": {"type": "note", "id": "e"}, "n": 1}]))
    commit = RAW["infinity"].replace("ROOM", room).replace('{"roomId"', '{"n":2,"roomId"', 1)
    for _ in range(2):
        assert raw.ask(commit)["error"]["code"] == "invalid"
    # Another body under the number is a conflict, and the next number is the next one.
    move = {"roomId": room, "elementId": "e", "positionX": 1}
    assert raw.ask(json.dumps(["element:transform", {**move, "n": 2}]))["error"]["code"] == "conflict"
    answer = raw.ask(json.dumps(["element:transform", {**move, "n": 3}]))
    assert answer["ok"] and answer["seq"] == 2, answer


@pytest.mark.parametrize("auth, field", [
    ('{"name":"a","name":"b"}', "name"), ('{"own":' + "[" * 200 + "]" * 200 + "}", None),
])
def test_the_auth_payload_is_refused_with_its_field(single, auth, field):
    socket = websocket.create_connection(
        single.url.replace("http", "ws") + "/socket.io/?EIO=4&transport=websocket", timeout=10)
    assert socket.recv().startswith("0")
    for _ in range(3):
        socket.send("40" + auth)
        text = socket.recv()
        assert text.startswith("44"), text
        data = json.loads(text[2:])["data"]
        assert data["code"] in ("invalid", "too_large") and (data["field"] == field or data["field"].startswith("own")), data
    # The connection stays, for a better one.
    socket.send("40{}")
    assert socket.recv().startswith("40")
    socket.close()


def test_a_message_over_the_limit(single, apps, room):
    raw = Raw(single.url)
    assert raw.open["maxPayload"] == 262144
    raw.ask(json.dumps(["room:join", {"roomId": room}]))
    fits = {"roomId": room, "element": {"type": "note"}, "ignored": "x" * 250_000}
    assert raw.ask(json.dumps(["element:create", fits]))["ok"] is True
    try:
        raw.say("42" + json.dumps(["element:create", {"roomId": room, "ignored": "x" * 300_000}]))
    except OSError:
        pass
    assert raw.is_closed()
    # Others live on.
    assert apps(single.url, "ada").join(room)["seq"] == 1


def test_a_flood_of_commits_is_held_to_its_rate_and_keeps_its_order(raw, room):
    """Numbered by the app: what is refused has used no number, and what was acknowledged is there."""
    commits = 300
    for number in range(1, commits + 1):
        element = {"type": "note", "id": f"e{number}"}
        raw.say(f'42{number}' + json.dumps(["element:create", {"roomId": room, "element": element, "n": number}]))
    answers = {}
    while len(answers) < commits:
        number, _, answer = raw.take("43").partition("[")
        answers[int(number)] = json.loads("[" + answer)[0]
    answers = [answers[number] for number in sorted(answers)]
    done = [answer["seq"] for answer in answers if answer["ok"]]
    refusals = [answer["error"] for answer in answers if not answer["ok"]]
    assert done == list(range(1, len(done) + 1)) and 32 <= len(done) < commits
    assert {error["code"] for error in refusals} <= {"busy", "rate_limited", "gap"}
    assert all("retryAfterMs" in error or error["code"] == "gap" for error in refusals)
    assert any(error["code"] == "rate_limited" or error["code"] == "busy" for error in refusals)
