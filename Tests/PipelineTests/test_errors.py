"""Bad input gets its code and its field, and hurts nobody."""

import json
import re

import pytest
import websocket

from app import fence
from raw import Raw
from shapes import assert_element

HUGE = "x" * 9000


@pytest.fixture(scope="module")
def clerk(single):
    """One app for the whole table, in one room with one element."""
    from app import App

    app = App(single.url, "clerk").connect()
    app.join("errors")
    app.ok("element:create", {"roomId": "errors", "element": {"type": "note", "id": "e"}})
    yield app
    app.close()


BAD = [
    # No payload, or none that is an object.
    ("element:transform", None, "invalid", None),
    ("element:transform", [], "invalid", None),
    ("element:transform", "e", "invalid", None),
    ("element:transform", 7, "invalid", None),
    # The room.
    ("element:transform", {"roomId": ..., "elementId": "e", "positionX": 1}, "invalid", "roomId"),
    ("element:transform", {"roomId": 1, "elementId": "e", "positionX": 1}, "invalid", "roomId"),
    ("element:transform", {"roomId": "elsewhere", "elementId": "e", "positionX": 1}, "forbidden", None),
    ("element:create", {"roomId": "elsewhere", "element": {"type": "note"}}, "forbidden", None),
    # The element's id.
    ("element:transform", {"positionX": 1}, "invalid", "elementId"),
    ("element:transform", {"elementId": "", "positionX": 1}, "invalid", "elementId"),
    ("element:transform", {"elementId": "x" * 129, "positionX": 1}, "invalid", "elementId"),
    ("element:transform", {"elementId": "ä" * 65, "positionX": 1}, "invalid", "elementId"),
    ("element:transform", {"elementId": "a\u0000b", "positionX": 1}, "invalid", "elementId"),
    ("element:create", {"element": {"type": "note", "own": ["\u0000"]}}, "invalid", "element.own[0]"),
    ("element:update", {"elementId": "e", "set": {"a": {"b\u0000": 1}}}, "invalid", "set.a.b\ufffd"),
    ("element:create", {"element": {f"k{index}": 1 for index in range(97)}}, "too_large", "element"),
    ("element:create", {"element": {"type": "note", "own": [0] * 1001}}, "too_large", "element.own"),
    ("room:join", {"session": "\u0000"}, "invalid", "session"),
    ("element:transform", {"elementId": "a\u007fb", "positionX": 1}, "invalid", "elementId"),
    ("element:transform", {"elementId": "a\u0085b", "positionX": 1}, "invalid", "elementId"),
    ("element:transform", {"elementId": 5, "positionX": 1}, "invalid", "elementId"),
    ("element:transform", {"elementId": None, "positionX": 1}, "invalid", "elementId"),
    ("element:transform", {"elementId": "nobody", "positionX": 1}, "not_found", None),
    ("element:update", {"elementId": "nobody", "set": {"a": 1}}, "not_found", None),
    ("element:delete", {"elementId": "nobody"}, "not_found", None),
    ("element:delete", {}, "invalid", "elementId"),
    # Transforms.
    ("element:transform", {"elementId": "e"}, "invalid", None),
    ("element:transform", {"elementId": "e", "transform": {}}, "invalid", None),
    ("element:transform", {"elementId": "e", "transform": []}, "invalid", "transform"),
    ("element:transform", {"elementId": "e", "transform": None}, "invalid", "transform"),
    ("element:transform", {"elementId": "e", "positionX": "1"}, "invalid", "positionX"),
    ("element:transform", {"elementId": "e", "positionX": None}, "invalid", "positionX"),
    ("element:transform", {"elementId": "e", "positionY": True}, "invalid", "positionY"),
    ("element:transform", {"elementId": "e", "positionX": 1, "width": "5"}, "invalid", "width"),
    ("element:transform", {"elementId": "e", "positionX": 1, "height": []}, "invalid", "height"),
    ("element:transform", {"elementId": "e", "transform": {"rotation": {}}}, "invalid", "transform.rotation"),
    ("element:transform", {"elementId": "e", "transform": {"scaleX": "2"}}, "invalid", "transform.scaleX"),
    ("element:transform", {"elementId": "e", "transform": {"scaleY": None}}, "invalid", "transform.scaleY"),
    ("element:transform", {"elementId": "e", "positionX": 1, "gesture": 0}, "invalid", "gesture"),
    ("element:transform", {"elementId": "e", "positionX": 1, "gesture": 1.5}, "invalid", "gesture"),
    ("element:transform", {"elementId": "e", "positionX": 1, "gesture": "1"}, "invalid", "gesture"),
    # Traces.
    ("element:transform", {"elementId": "e", "positionX": 1, "traceparent": 5}, "invalid", "traceparent"),
    ("element:transform", {"elementId": "e", "positionX": 1, "traceparent": None}, "invalid", "traceparent"),
    ("element:delete", {"elementId": "e", "traceparent": ""}, "invalid", "traceparent"),
    ("element:create", {"element": {"type": "note"}, "traceparent": "00-" + "A" * 32 + "-00f067aa0ba902b7-01"},
     "invalid", "traceparent"),
    ("history:undo", {"traceparent": "00-" + "0" * 32 + "-00f067aa0ba902b7-01"}, "invalid", "traceparent"),
    # New elements.
    ("element:create", {}, "invalid", "element"),
    ("element:create", {"element": []}, "invalid", "element"),
    ("element:create", {"element": {}}, "invalid", "element.type"),
    ("element:create", {"element": {"type": 5}}, "invalid", "element.type"),
    ("element:create", {"element": {"type": "x" * 33}}, "invalid", "element.type"),
    ("element:create", {"element": {"type": "note", "id": ""}}, "invalid", "element.id"),
    ("element:create", {"element": {"type": "note", "id": "a\nb"}}, "invalid", "element.id"),
    ("element:create", {"element": {"type": "note", "id": None}}, "invalid", "element.id"),
    ("element:create", {"element": {"type": "note", "positionX": "1"}}, "invalid", "element.positionX"),
    ("element:create", {"element": {"type": "note", "rotation": None}}, "invalid", "element.rotation"),
    ("element:create", {"element": {"type": "note", "width": 0}}, "invalid", "element.width"),
    ("element:create", {"element": {"type": "note", "originalHeight": -5}}, "invalid", "element.originalHeight"),
    ("element:create", {"element": {"type": "note", "locked": 1}}, "invalid", "element.locked"),
    ("element:create", {"element": {"type": "note", "bounds": {"x": 0}}}, "invalid", "element.bounds.y"),
    ("element:create", {"element": {"type": "note", "bounds": 5}}, "invalid", "element.bounds"),
    ("element:create", {"element": {"type": "note", "snapDegrees": 0}}, "invalid", "element.snapDegrees"),
    ("element:create", {"element": {"type": "note", "space": "outer"}}, "invalid", "element.space"),
    ("element:create", {"element": {"type": "note", "own": HUGE}}, "too_large", None),
    ("element:create", {"element": {"type": "note", "id": "e"}}, "conflict", None),
    ("elements:create", {}, "invalid", "elements"),
    ("elements:create", {"elements": {}}, "invalid", "elements"),
    ("elements:create", {"elements": []}, "invalid", "elements"),
    ("elements:create", {"elements": [{"type": "note"}, 5]}, "invalid", "elements[1]"),
    ("elements:create", {"elements": [{"type": "note"}, {}]}, "invalid", "elements[1].type"),
    ("elements:create", {"elements": [{"type": "note", "scaleX": "x"}]}, "invalid", "elements[0].scaleX"),
    ("elements:create", {"elements": [{"type": "note"}] * 501}, "too_large", None),
    # Updates.
    ("element:update", {"elementId": "e"}, "invalid", "set"),
    ("element:update", {"elementId": "e", "set": []}, "invalid", "set"),
    ("element:update", {"elementId": "e", "set": {"big": HUGE}}, "too_large", None),
    ("element:update", {"elementId": "e", "set": {"fontSize": "12"}}, "invalid", "set.fontSize"),
    ("element:update", {"elementId": "e", "set": None}, "invalid", "set"),
    ("element:update", {"elementId": "e", "set": {"locked": None}}, "invalid", "set.locked"),
    ("element:update", {"elementId": "e", "set": {"positionX": None}}, "invalid", "set.positionX"),
    ("element:update", {"elementId": "e", "set": {"parentId": None}}, "invalid", "set.parentId"),
    ("element:update", {"elementId": "e", "set": {"zIndex": None, "originalWidth": None}}, "invalid", "set.originalWidth"),
    ("element:update", {"elementId": "e", "set": {"originalHeight": 0}}, "invalid", "set.originalHeight"),
    ("element:update", {"elementId": "e", "set": {"originalHeight": "5"}}, "invalid", "set.originalHeight"),
    ("element:create", {"element": {"type": "note", "zIndex": None}}, "invalid", "element.zIndex"),
    ("elements:create", {"elements": [{"type": "note", "bounds": None}]}, "invalid", "elements[0].bounds"),
    ("elements:transform", {"elements": [{"elementId": "e", "positionX": None}]}, "invalid", "elements[0].positionX"),
    ("element:update", {"elementId": "e", "set": {"locked": "no"}}, "invalid", "set.locked"),
    ("element:update", {"elementId": "e", "set": {"snapDegrees": -1}}, "invalid", "set.snapDegrees"),
    ("element:update", {"elementId": "e", "set": {"bounds": {"x": 1}}}, "invalid", "set.bounds.y"),
    ("element:update", {"elementId": "e", "set": {"zIndex": []}}, "invalid", "set.zIndex"),
    *(
        ("element:update", {"elementId": "e", "set": {name: 1}}, "invalid", f"set.{name}")
        for name in (
            "id", "type", "positionX", "positionY", "width", "height", "rotation", "scaleX", "scaleY", "anchorX",
            "anchorY", "parentId", "space", "transform",
        )
    ),
    # Groups, gestures and presets.
    ("elements:transform", {"elements": [{"elementId": "e"}]}, "invalid", "elements[0].transform"),
    ("elements:transform", {"elements": [{"elementId": "e", "positionX": 1}, 5]}, "invalid", "elements[1].elementId"),
    (
        "elements:transform", {"elements": [{"elementId": "e", "transform": {"scaleX": True}}]}, "invalid",
        "elements[0].transform.scaleX",
    ),
    (
        "elements:transform", {"elements": [{"elementId": "e", "positionX": 1}] * 2}, "invalid",
        "elements[1].elementId",
    ),
    ("elements:transform", {"elements": [{"elementId": "x", "positionX": 1}]}, "not_found", "elements[0].elementId"),
    ("elements:delete", {"elementIds": "e"}, "invalid", "elementIds"),
    ("elements:delete", {"elementIds": [""]}, "invalid", "elementIds[0]"),
    ("elements:delete", {"elementIds": ["e", "x"]}, "not_found", "elementIds[1]"),
    ("element:gesture", {"elementId": "e"}, "invalid", "translation"),
    ("element:gesture", {"elementId": "e", "translation": {"x": 1, "y": None}}, "invalid", "translation.y"),
    ("element:gesture", {"elementId": "e", "scale": []}, "invalid", "scale"),
    ("element:gesture", {"elementId": "e", "rotation": "90"}, "invalid", "rotation"),
    ("element:gesture", {"elementId": "e", "anchor": {"x": 0.5}}, "invalid", "anchor.y"),
    ("element:gesture", {"elementId": "x", "rotation": 1}, "not_found", "elementId"),
    ("elements:gesture", {"elements": ["e"], "rotation": 1}, "invalid", "pivot"),
    ("elements:gesture", {"elements": ["e", 7], "pivot": {"x": 0, "y": 0}, "rotation": 1}, "invalid", "elements[1]"),
    ("element:preset", {"elementId": "e"}, "invalid", "preset"),
    ("element:preset", {"elementId": "e", "preset": "ROTATECW"}, "invalid", "preset"),
    ("history:undo", {"n": 0}, "invalid", "n"),
    ("history:undo", {"n": 1.5}, "invalid", "n"),
    ("history:undo", {"n": "1"}, "invalid", "n"),
    ("history:undo", {"n": 2.0**53}, "invalid", "n"),
    ("room:join", {"resume": {"epoch": "e", "seq": 0.5}}, "invalid", "resume.seq"),
    ("room:join", {"resume": {"epoch": "e"}}, "invalid", "resume.seq"),
    ("room:join", {"resume": {"seq": 0}}, "invalid", "resume.epoch"),
    ("history:redo", {"roomId": 7}, "invalid", "roomId"),
    ("element:preset", {"elementId": "e", "preset": "reset", "undoGroup": ["x"]}, "invalid", "undoGroup"),
    ("element:preset", {"elementId": "e", "preset": "reset", "undoable": "false"}, "invalid", "undoable"),
    ("viewport:set", {"x": 0, "y": 0, "width": -1, "height": 5}, "invalid", "width"),
    ("selection:set", {"elementIds": "e"}, "invalid", "elementIds"),
    ("selection:set", {"elementIds": ["e", ""]}, "invalid", "elementIds[1]"),
    # Events that there are not.
    ("element:explode", {}, "unknown_event", None),
    ("toString", {}, "unknown_event", None),
    ("__proto__", {}, "unknown_event", None),
    ("", {}, "unknown_event", None),
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
    "nan": '["element:transform",{"roomId":"ROOM","elementId":"e","positionX":NaN}]',
    "infinity": '["element:transform",{"roomId":"ROOM","elementId":"e","positionX":1e999}]',
    "zero first": '["element:transform",{"roomId":"ROOM","elementId":"e","positionX":01}]',
    "plus": '["element:transform",{"roomId":"ROOM","elementId":"e","positionX":+1}]',
    "point first": '["element:transform",{"roomId":"ROOM","elementId":"e","positionX":.5}]',
    "hex": '["element:transform",{"roomId":"ROOM","elementId":"e","positionX":0x10}]',
    "comma in an array": '["element:create",{"roomId":"ROOM","element":{"type":"note","own":[1,]}}]',
    "comment at the end": '["element:delete",{"roomId":"ROOM","elementId":"e"}]//',
    "comment": '["element:transform",{"roomId":"ROOM","elementId":"e"/**/,"positionX":1}]',
    "single quotes": "['element:transform',{}]",
    "key twice": '["element:transform",{"roomId":"ROOM","elementId":"e","positionX":1,"positionX":2}]',
    "key twice escaped": '["element:transform",{"roomId":"ROOM","elementId":"e","positionX":1,"\\u0070ositionX":2}]',
    "key twice deep": '["element:create",{"roomId":"ROOM","element":{"type":"note","own":[1,{"a":{},"a":{}}]}}]',
    "33 digits": '["element:transform",{"roomId":"ROOM","elementId":"e","transform":{"rotation":' + "7" * 33 + "}}]",
    "surrogate": '["element:transform",{"roomId":"ROOM","elementId":"\\ud800","positionX":1}]',
    "control character": '["element:transform",{"roomId":"ROOM","elementId":"a\u0001","positionX":1}]',
    "too deep": '["element:create",{"roomId":"ROOM","element":{"type":"note","own":' + "[" * 40 + "]" * 40 + "}}]",
    "20,000 keys": '["element:create",{"roomId":"ROOM","element":{' + ",".join(f'"{index}":1' for index in range(20_000)) + "}}]",
    "keys that look alike": '["element:create",{"roomId":"ROOM","element":{' + ",".join(f'"\\u{index:04x}":1' for index in range(64, 4096)) + "}}]",
    "many keys": '["element:create",{"roomId":"ROOM","element":{"type":"note",'
    + ",".join(f'"k{index}":1' for index in range(100)) + "}}]",
    "rest": '["element:delete",{"roomId":"ROOM","elementId":"e"}] x',
    "a number": '[42,{"roomId":"ROOM"}]',
    "long array": '["element:create",{"roomId":"ROOM","element":{"type":"note","own":[' + "1," * 1100 + "1]}}]",
}


@pytest.mark.parametrize("text", sorted(RAW))
def test_bad_json_is_refused_and_the_connection_stays(raw, room, text):
    answer = raw.ask(RAW[text].replace("ROOM", room), 12)
    assert answer["ok"] is False and answer["error"]["code"] in ("invalid", "too_large"), answer
    answer = raw.ask(json.dumps(["element:create", {"roomId": room, "element": {"type": "note"}}]), 13)
    assert answer["ok"] is True and answer["seq"] == 1


@pytest.mark.parametrize("text", [
    "42{}", "42-1[]", "4299999999999999999999[]", "421e3[]", "42x[]", "48[]", "4x", "x", "40x", "", "42\ufeff[]",
    "4\x002\x00[\x00]\x00", "45999999999-[\"x\"]", "45-1-[\"x\"]", "451[\"x\"]", "2", "0{}", "9",
])
def test_a_bad_packet_ends_the_connection(raw, text):
    raw.say(text)
    assert raw.is_closed()


@pytest.mark.parametrize("name", ["", "connect", "disconnect", "disconnecting", "error", "toString", "constructor"])
def test_names_that_mean_something_elsewhere_are_names(raw, name):
    assert raw.ask(json.dumps([name, {}]))["error"]["code"] == "unknown_event"


@pytest.mark.parametrize("arguments", ["[]", "[1]", "[null]", "[[]]", "[{}]"])
def test_an_event_has_a_name(raw, arguments):
    assert raw.ask(arguments)["error"]["code"] == "invalid"


def test_pongs_that_nobody_asked_for_change_nothing(raw, room):
    for _ in range(4000):
        raw.say("3")
    assert raw.ask(json.dumps(["element:create", {"roomId": room, "element": {"type": "note"}}]))["ok"]


def test_an_acknowledgement_that_nobody_asked_for_changes_nothing(raw, room):
    raw.say('435["x"]')
    assert raw.ask(json.dumps(["element:create", {"roomId": room, "element": {"type": "note"}}]))["ok"]


def test_numbers_that_json_spells_oddly_are_fine(raw, room):
    raw.ask(json.dumps(["element:create", {"roomId": room, "element": {"type": "note", "id": "e"}}]))
    text = '["element:transform", {"roomId":"%s","elementId":"e","positionX":1e2,"positionY":-0,"transform":{"rotation":1E-999}}]'
    answer = raw.ask(text % room, 9)
    assert answer["ok"], answer
    assert_element(answer["element"], positionX=100, positionY=0, rotation=0)


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


WELL_FORMED = {
    "surrogate": ("invalid", "elementId"), "infinity": ("invalid", "positionX"), "33 digits": ("invalid", "transform.rotation"),
    "key twice": ("invalid", "positionX"), "key twice escaped": ("invalid", "positionX"),
    "key twice deep": ("invalid", "element.own[1].a"), "many keys": ("too_large", "element"),
    "20,000 keys": ("too_large", "element"), "long array": ("too_large", "element.own"), "too deep": ("too_large", None),
}


@pytest.mark.parametrize("text", sorted(WELL_FORMED))
def test_well_formed_texts_never_end_the_connection(raw, room, text):
    code, field = WELL_FORMED[text]
    for index in range(30):
        error = raw.ask(RAW[text].replace("ROOM", room), index)["error"]
        assert error["code"] == code and (error["field"] == field or field is None), error
        assert error["field"].startswith(("element", "position", "transform")) and "JSON" not in error["message"], error


@pytest.mark.parametrize("text", sorted(WELL_FORMED))
def test_a_number_is_used_up_by_any_well_formed_text(raw, room, text):
    raw.ask(json.dumps(["element:create", {"roomId": room, "element": {"type": "note", "id": "e"}, "n": 1}]))
    code, field = WELL_FORMED[text]
    commit = RAW[text].replace("ROOM", room).replace('{"roomId"', '{"n":2,"roomId"', 1)
    for _ in range(2):
        assert raw.ask(commit)["error"]["code"] == code
    # Another body under the number is a conflict, and the next number is the next one.
    move = {"roomId": room, "elementId": "e", "positionX": 1}
    assert raw.ask(json.dumps(["element:transform", {**move, "n": 2}]))["error"]["code"] == "conflict"
    answer = raw.ask(json.dumps(["element:transform", {**move, "n": 3}]))
    assert answer["ok"] and answer["seq"] == 2, answer


@pytest.mark.parametrize("wrong, field", [
    ('"n":2,"n":2', "n"), ('"n":1e400', "n"), ('"n":2.' + "0" * 40, "n"), ('"n":2,"roomId":"ROOM"', "roomId"),
    ('"n":"2"', "n"), ('"n":2.5', "n"),
])
def test_a_number_is_not_used_up_where_it_or_the_room_is_what_is_wrong(raw, room, wrong, field):
    raw.ask(json.dumps(["element:create", {"roomId": room, "element": {"type": "note", "id": "e"}, "n": 1}]))
    text = f'["element:transform",{{"roomId":"ROOM","elementId":"e","positionX":1,{wrong}}}]'.replace("ROOM", room)
    error = raw.ask(text)["error"]
    assert error["code"] == "invalid" and error["field"] == field, error
    assert raw.ask(json.dumps(["element:delete", {"roomId": room, "elementId": "e", "n": 2}]))["seq"] == 2


def test_a_commit_with_attachments_uses_up_its_number(raw, room):
    create = '["element:create",{"roomId":"%s","n":1,"element":{"type":"note","own":{"_placeholder":true,"num":0}}}]'
    raw.say("451-7" + create % room)
    raw.socket.send_binary(b"x")
    assert json.loads(raw.take("437"))[0]["error"]["code"] == "invalid"
    assert raw.ask(json.dumps(["element:create", {"roomId": room, "element": {"type": "note"}, "n": 2}]))["seq"] == 1


@pytest.mark.parametrize("auth, field", [
    ('{"name":"a","name":"b"}', "name"), ('{"own":{"x":1e999}}', "own.x"), ('{"own":' + "1" * 2000 + "}", "own"),
    ('{"own":[' + "1," * 1001 + "1]}", "own"), ('{"own":' + "[" * 200 + "]" * 200 + "}", None),
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


def test_a_number_is_used_up_by_a_text_that_cannot_be_stored(raw, room):
    raw.ask(json.dumps(["element:create", {"roomId": room, "element": {"type": "note", "id": "e"}, "n": 1}]))
    update = '["element:update",{"roomId":"%s","elementId":"e","set":{"a":"\\u0000"},"n":2}]' % room
    for _ in range(2):
        answer = raw.ask(update)
        assert answer["error"]["code"] == "invalid" and answer["error"]["field"] == "set.a", answer
    answer = raw.ask(json.dumps(["element:transform", {"roomId": room, "elementId": "e", "positionX": 1, "n": 3}]))
    assert answer["ok"] and answer["seq"] == 2, answer


def test_a_binary_event_is_refused_by_its_name(raw, room):
    raw.say('451-["element:transforming",{"roomId":"%s","own":{"_placeholder":true,"num":0}}]' % room)
    raw.socket.send_binary(b"x")
    name, error = json.loads(raw.take("42"))
    assert name == "transform:error" and error["event"] == "element:transforming" and error["code"] == "invalid"


@pytest.mark.parametrize("number", ["0", "1", "9", "-1", '"x"', "1e99"])
def test_attachments_are_never_looked_up(raw, room, number):
    raw.say('451-["element:create",{"roomId":"%s","element":{"_placeholder":true,"num":%s}}]' % (room, number))
    raw.socket.send_binary(b"x")
    name, error = json.loads(raw.take("42"))
    assert name == "transform:error" and error["event"] == "element:create" and error["code"] == "invalid"


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


def test_text_where_an_attachment_is_due_ends_the_connection(raw, room):
    raw.say('451-["element:transform",{"_placeholder":true,"num":0}]')
    raw.say(f'42["room:leave",{{"roomId":"{room}"}}]')
    assert raw.is_closed()


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


def test_bad_previews_are_told_once_a_second(two, room, note):
    ada, bob = two
    for _ in range(20):
        ada.send("element:transforming", {"roomId": room, "elementId": "note-1", "transform": {"rotation": "x"}})
        ada.send("element:transforming", {"roomId": "elsewhere", "elementId": "note-1", "positionX": 1})
    error = ada.wait("transform:error", lambda error: error["code"] == "invalid")
    assert error["event"] == "element:transforming" and error["field"] == "transform.rotation"
    assert error["roomId"] == room and error["elementId"] == "note-1"
    assert ada.wait("transform:error", lambda error: error["code"] == "forbidden")["roomId"] == "elsewhere"
    # A preview of what is not there is dropped without a word.
    ada.send("element:transforming", {"roomId": room, "elementId": "nobody", "positionX": 1})
    fence(room, ada, bob)
    codes = [error["code"] for error in ada.named("transform:error")]
    assert codes.count("invalid") <= 3 and codes.count("forbidden") <= 3 and set(codes) == {"invalid", "forbidden"}
    assert [p for p in bob.named("element:transforming") if p["elementId"] in ("nobody", "note-1")] == []
