"""What a room may hold: a full room can be joined, changed and cleaned; it only cannot grow."""

import pytest
import requests

import pipeline as pipelines
from app import App
from test_large_rooms import SlowReader


@pytest.fixture(scope="module")
def limited(beside):
    """Small limits, in all daemons that have them."""
    with beside(
        "--room-elements", 20, "--room-bytes", 70_000, "--element-annotations", 3, "--group-elements", 10,
        "--commit-elements", 12, "--picture-bytes", 15_000,
    ) as pipeline:
        yield pipeline


@pytest.fixture
def ada(limited, apps, room):
    app = apps(limited.url, "ada")
    app.answer = app.join(room)
    return app


def create(app, room, *notes):
    return app.ok("elements:create", {"roomId": room, "elements": [{"type": "note", **note} for note in notes]})


def test_a_join_tells_the_limits(ada):
    limits = ada.answer["limits"]
    assert (limits["roomElements"], limits["roomBytes"], limits["elementAnnotations"]) == (20, 70_000, 3)
    assert set(limits) == {
        "message", "depth", "keys", "array", "group", "rooms", "unacknowledged", "previewsPerSecond", "commitsPerSecond",
        "commitBurst", "userCommitsPerSecond", "userCommitBurst", "replay", "roomElements", "roomBytes", "elementAnnotations",
        "ownFields", "pictureBytes", "numberLength", "keyframes", "animationBytes",
    }


def test_the_limit_of_own_fields_is_the_one_that_a_refusal_names(ada, room):
    allowed = ada.answer["limits"]["ownFields"]
    fields = {f"f{number}": 1 for number in range(allowed)}
    create(ada, room, {"id": "e", **fields})
    for event, payload, field in [
        ("element:create", {"element": {"type": "note", **fields, "one": 1}}, "element"),
        ("elements:create", {"elements": [{"type": "note"}, {"type": "note", **fields, "one": 1}]}, "elements[1]"),
        ("element:update", {"elementId": "e", "set": {"one": 1}}, "set"),
        ("element:update", {"elementId": "e", "set": {**fields, "one": 1}}, "set"),
    ]:
        message = ada.refused(event, {"roomId": room, **payload}, "too_large", field)["message"]
        assert message == f"An element has at most {allowed} own fields."
    bytes_ = ada.refused("element:update", {"roomId": room, "elementId": "e", "set": {"f0": "x" * 9000}}, "too_large", "set")
    assert bytes_["message"] == "An element's own fields have at most 8192 bytes."
    # A picture is larger; it counts in the room, and the setting is told.
    longest = ada.answer["limits"]["pictureBytes"]
    assert longest == 15_000
    picture = "data:image/webp;base64,".ljust(longest, "A")
    create(ada, room, {"id": "p", "picture": picture, "title": "x" * 8000})
    one = {"roomId": room, "elementId": "p", "set": {"picture": picture + "A"}}
    assert ada.refused("element:update", one, "too_large", "set.picture")["message"] == "A picture has at most 15000 bytes."
    create(ada, room, {"picture": picture}, {"picture": picture})
    ada.refused("element:create", {"roomId": room, "element": {"type": "photo", "picture": picture}}, "too_large", "element")
    many = {"roomId": room, "elementIds": [f"e{number}" for number in range(501)]}
    assert ada.refused("selection:set", many, "too_large", "elementIds")["message"] == "elementIds has at most 500 elements."


def test_a_full_room_takes_no_more_elements_until_one_is_deleted(limited, ada, room):
    for start in (0, 10):
        create(ada, room, *({"id": f"e{start + number}"} for number in range(10)))
    one = {"roomId": room, "element": {"type": "note", "id": "more"}}
    assert "20 elements" in ada.refused("element:create", one, "too_large", "element")["message"]
    two = {"roomId": room, "elements": [{"type": "note"}, {"type": "note"}]}
    ada.refused("elements:create", two, "too_large", "elements[0]")
    answer = requests.post(f"{limited.url}/api/rooms/{room}/elements", json={"type": "note"}, timeout=10)
    assert answer.status_code == 413 and answer.json()["error"]["field"] == "element"
    ada.ok("element:transform", {"roomId": room, "elementId": "e3", "positionX": 123456})
    ada.ok("element:delete", {"roomId": room, "elementId": "e4"})
    ada.refused("elements:create", two, "too_large", "elements[1]")
    ada.ok("element:create", one)
    ada.refused("element:create", {"roomId": room, "element": {"type": "note"}}, "too_large", "element")
    figure = 'touchsync_committer_over_limit_total{limit="room-elements"}'
    pipelines.eventually("they are counted", lambda: limited.metrics("committer")[figure] >= 4)


def test_bytes_are_refused_when_an_element_grows(ada, room):
    for number in range(8):
        create(ada, room, {"id": f"e{number}", "content": "x" * 8000})
    grown = {"roomId": room, "elementId": "e0", "set": {"other": "y" * 100}}
    ada.ok("element:update", grown)
    for number in range(8, 10):
        last = {"roomId": room, "element": {"type": "note", "content": "x" * 8000}}
        ada.refused("element:create", last, "too_large", "element")
    ada.ok("element:update", {"roomId": room, "elementId": "e1", "set": {"content": None}})
    ada.ok("element:create", last)


def test_annotations_and_cascades_are_limited(ada, room):
    photos = [f"p{number}" for number in range(4)]
    create(ada, room, *({"type": "photo", "id": photo} for photo in photos))
    for photo in photos:
        create(ada, room, *({"type": "text", "id": f"{photo}-{number}", "parentId": photo} for number in range(3)))
    fourth = {"roomId": room, "element": {"type": "text", "parentId": "p0"}}
    assert "3 annotations" in ada.refused("element:create", fourth, "too_large", "element")["message"]
    refusal = ada.refused("elements:delete", {"roomId": room, "elementIds": photos}, "too_large")
    assert "12 elements" in refusal["message"]
    assert len(ada.ok("elements:delete", {"roomId": room, "elementIds": photos[:3]})["elementIds"]) == 12


@pytest.fixture(scope="module")
def full(single):
    """The writer of a room with 1,900 elements of 8 KB and what they weigh besides: a little less than 16 MiB, and one more
    is too much. Returns the room, too."""
    room = "full"
    writer = App(single.url, "writer").connect()
    writer.join(room)
    count = 0
    while True:
        notes = [{"type": "note", "id": f"e{count + index}", "content": "x" * 8100} for index in range(31)]
        answer = writer.call("elements:create", {"roomId": room, "elements": notes})
        if not answer["ok"]:
            break
        count += len(notes)
    assert answer["error"]["code"] == "too_large" and count * 8600 > 15.5 * (1 << 20)
    assert len(read(single, room)) == count
    yield writer, room
    writer.close()


def read(pipeline, room):
    """The elements of a room, over HTTP."""
    return requests.get(f"{pipeline.url}/api/rooms/{room}", timeout=20).json()["elements"]


@pytest.mark.parametrize("parts", [False, True])
def test_a_room_at_the_default_limit_can_be_joined_and_cleaned(single, full, parts):
    writer, room = full
    reader = SlowReader(single.url, room, 50_000_000)
    reader.join(parts=parts)
    assert len(reader.elements) == len(read(single, room)) >= 1800
    last = {"roomId": room, "element": {"type": "note", "content": "x" * 8100}}
    while writer.call("element:create", last)["ok"]:
        pass
    writer.ok("element:delete", {"roomId": room, "elementId": f"e{int(parts)}"})
    smaller = {"roomId": room, "element": {"type": "note", "content": "x" * 8000}}
    writer.ok("element:create", smaller)
    reader.socket.close()


@pytest.mark.long
def test_a_room_beyond_the_limits_can_be_joined_and_cleaned(single, apps, room):
    """48 MB, as if the limits had been higher."""
    creator = apps(single.url, "creator")
    creator.ok("room:join", {"roomId": room})
    creator.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "first", "content": "x" * 8100}})
    single.rows(
        "INSERT INTO elements (room_id, id, seq, updated_by, data)"
        """ SELECT room_id, 'e' || i, seq, updated_by, replace(data::text, '"first"', '"e' || i || '"')::json"""
        " FROM elements, generate_series(1, 5800) AS i WHERE room_id = %s RETURNING 1", room)
    single.rows("UPDATE rooms SET elements = 5801, bytes = 5801 * bytes WHERE room_id = %s RETURNING 1", room)
    for stage in ("committer", "fanout"):
        process = single.kill(stage)
        single.wait_restarted(process)
    reader = SlowReader(single.url, room, 100_000_000)
    pipelines.eventually("the room can be joined", lambda: reader.join(parts=True)["ok"], within=30)
    assert len(reader.elements) == 5801
    reader.socket.close()
    one = {"roomId": room, "element": {"type": "note"}}
    creator.refused("element:create", one, "too_large", "element")
    creator.ok("element:transform", {"roomId": room, "elementId": "e7", "positionX": 7})
    for start in range(1, 4501, 500):
        ids = [f"e{number}" for number in range(start, start + 500)]
        creator.ok("elements:delete", {"roomId": room, "elementIds": ids})
    creator.ok("element:create", one)
