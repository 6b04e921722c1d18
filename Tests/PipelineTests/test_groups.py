"""Groups, gestures and presets: edits of several elements, and edits on top of what is stored."""

import pytest

from app import fence, previews_at
from shapes import assert_element, assert_preview

# What members hear of each element of a group.
GEOMETRY = {
    "id", "type", "positionX", "positionY", "width", "height", "rotation", "scaleX", "scaleY", "originalWidth",
    "originalHeight", "anchorX", "anchorY", "rev",
}


@pytest.fixture
def canvas(two, room):
    """Two members of the test's room, and two notes, a photo and an annotation on it in it."""
    ada, bob = two
    answer = ada.ok(
        "elements:create",
        {
            "roomId": room,
            "elements": [
                {"type": "note", "id": "a", "positionX": 10, "positionY": 20, "mine": [1]},
                {"type": "note", "id": "b", "positionX": 110, "positionY": 20},
                {"type": "photo", "id": "photo", "width": 200, "height": 100},
                {"type": "text", "id": "label", "parentId": "photo", "space": "normalized", "positionX": 0.5, "positionY": 0.5},
            ],
        },
    )
    for app in two:
        app.wait_seq(answer["seq"])
    return ada, bob


def elements(app, room):
    """What the room has by id, for somebody who joins it."""
    return {element["id"]: element for element in app.join(room)["elements"]}


def test_a_group_moves_under_one_number(canvas, apps, single, room):
    ada, bob = canvas
    old = apps(single.url, "old", auth={"roomId": room})
    answer = ada.ok(
        "elements:transform",
        {
            "roomId": room, "n": 1,
            "elements": [
                {"elementId": "b", "positionX": 7.5, "transform": {"rotation": -90}},
                {"elementId": "a", "positionY": 3, "transform": {"scaleX": 99}},
            ],
        },
    )
    assert answer["seq"] == 2 and [element["id"] for element in answer["elements"]] == ["b", "a"]
    found = {(entry["elementId"], entry["field"], entry["stored"], entry["why"]) for entry in answer["adjusted"]}
    assert found == {("b", "positionX", 8, "integer"), ("a", "scaleX", 10, "range")}
    for app in (ada, bob):
        update = app.wait("elements:transformed")
        assert update["elements"] == answer["elements"] and update["seq"] == 2 and update["n"] == 1
        assert update["roomId"] == room and update["userId"] == "ada" and update["sid"]
        assert all(element.keys() == GEOMETRY for element in update["elements"])
    assert_element(elements(bob, room)["a"], positionX=10, positionY=3, scaleX=10, updatedBy="ada", rev=2, mine=[1])
    # An app of 1.0 gets them one by one, whole.
    old.wait("element:transformed", lambda update: update["element"]["id"] == "a")
    parts = old.named("element:transformed")
    assert [(update["seq"], update["part"], update["parts"]) for update in parts] == [(2, 1, 2), (2, 2, 2)]
    assert_element(parts[1]["element"], id="a", mine=[1], scaleX=10)
    # What was missed is told as it was broadcast.
    missed = apps(single.url, "late")
    epoch = missed.join(room)["epoch"]
    missed.leave(room)
    updates = missed.join(room, resume={"epoch": epoch, "seq": 1})["updates"]
    assert [(update["event"], update["data"]["elements"]) for update in updates] == [
        ("elements:transformed", answer["elements"])
    ]


def test_five_hundred_elements_move_in_one_message(two, room):
    ada, bob = two
    ids = [f"element-{index:03}" for index in range(500)]
    own = "x" * 400
    many = [{"type": "note", "id": name, "own": own} for name in ids]
    ada.ok("elements:create", {"roomId": room, "elements": many})
    moves = [{"elementId": name, "positionX": index, "positionY": -index} for index, name in enumerate(ids)]
    answer = ada.ok("elements:transform", {"roomId": room, "elements": moves})
    assert answer["seq"] == 2 and [element["positionX"] for element in answer["elements"]] == list(range(500))
    assert len(bob.wait("elements:transformed", within=10)["elements"]) == 500
    answer = ada.ok(
        "elements:gesture", {"roomId": room, "elements": ids, "pivot": {"x": 0, "y": 0}, "translation": {"x": 5, "y": 0}}
    )
    assert [element["positionX"] for element in answer["elements"]] == [index + 5 for index in range(500)]
    answer = ada.ok("elements:delete", {"roomId": room, "elementIds": ids})
    assert answer["seq"] == 4 and answer["elementIds"] == ids
    assert bob.wait("element:deleted", within=10)["elementIds"] == ids
    too_many = [{"elementId": f"e{index}", "positionX": 1} for index in range(501)]
    ada.refused("elements:transform", {"roomId": room, "elements": too_many}, "too_large", "elements")


def test_a_group_is_deleted_with_its_annotations(canvas, apps, single, room):
    ada, bob = canvas
    old = apps(single.url, "old", auth={"roomId": room})
    answer = ada.ok("elements:delete", {"roomId": room, "elementIds": ["b", "photo"]})
    assert answer["elementIds"] == ["b", "photo", "label"]
    deleted = bob.wait("element:deleted")
    assert deleted["elementIds"] == ["b", "photo", "label"] and deleted["seq"] == answer["seq"]
    old.wait("element:deleted", lambda data: data["elementId"] == "label")
    assert [(data["elementId"], data["seq"]) for data in old.named("element:deleted")] == [
        (name, answer["seq"]) for name in ("b", "photo", "label")
    ]
    assert elements(bob, room).keys() == {"a"}


# While fingers are down


def test_a_gesture_is_shown_as_values(canvas, room):
    ada, bob = canvas
    ada.ok("element:transform", {"roomId": room, "elementId": "a", "transform": {"rotation": 350}})
    gesture = {"roomId": room, "elementId": "a", "translation": {"x": 1.4, "y": 0}, "rotation": 20, "scale": 99, "gesture": 5}
    ada.send("element:gesturing", gesture)
    shown = bob.wait("element:transforming", lambda preview: preview["elementId"] == "a")
    assert_preview(shown, ["positionX", "positionY"])
    assert shown["transform"] == {"rotation": 10, "scaleX": 10, "scaleY": 10}
    assert (shown["positionX"], shown["positionY"], shown["gesture"]) == (11, 20, 5)
    answer = ada.ok("element:gesture", gesture)
    assert_element(answer["element"], rotation=10, scaleX=10, positionX=11)
    assert bob.wait_seq(answer["seq"]).data["gesture"] == 5
    # Nothing of the gesture is shown any more.
    ada.send("element:gesturing", {**gesture, "rotation": 40})
    fence(room, ada, bob)
    assert len(previews_at(bob, "a")) == 1


def test_a_groups_gesture_is_shown_in_one_message(canvas, apps, single, room):
    ada, bob = canvas
    old = apps(single.url, "old", auth={"roomId": room})
    fence(room, ada, bob, old)
    gesture = {"roomId": room, "elements": ["a", "b"], "pivot": {"x": 60, "y": 20}, "rotation": 90}
    ada.send("elements:gesturing", gesture)
    shown = bob.wait("elements:transforming")
    assert {key for key in shown} == {"roomId", "elements", "userId", "sid", "gesture", "n", "dt"}
    assert shown["userId"] == "ada" and shown["n"] == 1 and shown["gesture"] >= 1
    values = {element["elementId"]: element for element in shown["elements"]}
    assert values.keys() == {"a", "b"}
    assert (values["a"]["positionX"], values["a"]["positionY"], values["a"]["transform"]) == (60, -30, {"rotation": 90})
    assert (values["b"]["positionX"], values["b"]["positionY"]) == (60, 70)
    for element in ("a", "b"):
        assert_preview(old.wait("element:transforming", lambda preview: preview["elementId"] == element))
    assert not any(preview["elementId"] in values for preview in bob.named("element:transforming"))
    assert ada.named("elements:transforming") == []
    answer = ada.ok("elements:gesture", gesture)
    assert bob.wait_seq(answer["seq"]).data["gesture"] == shown["gesture"]


def test_a_group_that_vanishes_is_ended_for_each_element(canvas, apps, single, room):
    ada, bob = canvas
    tablet = apps(single.url, "cleo")
    tablet.join(room)
    tablet.send("elements:gesturing", {"roomId": room, "elements": ["a", "b"], "pivot": {"x": 0, "y": 0}, "scale": 2})
    bob.wait("elements:transforming")
    tablet.leave(room)
    for element in ("a", "b"):
        ended = bob.wait("gesture:ended", lambda data: data["elementId"] == element)
        assert_element(ended["element"], id=element, scaleX=1)


def test_five_hundred_elements_are_shown_moving(two, room):
    ada, bob = two
    ids = [f"element-{index:03}" for index in range(500)]
    bob.wait_seq(ada.ok("elements:create", {"roomId": room, "elements": [{"type": "note", "id": i} for i in ids]})["seq"])
    for step in range(1, 31):
        ada.send("elements:gesturing", {
            "roomId": room, "elements": ids, "pivot": {"x": 0, "y": 0}, "translation": {"x": step, "y": 0},
        })
    last = bob.wait("elements:transforming", lambda shown: shown["elements"][0]["positionX"] == 30)
    assert len(last["elements"]) == 500 and {element["positionX"] for element in last["elements"]} == {30}
    # A group that a slow queue has cut into parts counts its previews in each of them.
    assert sum(shown["n"] for shown in bob.named("elements:transforming")) >= 30


def test_bad_previews_of_groups_are_reported(canvas, room):
    ada, _ = canvas
    ada.send("elements:gesturing", {"roomId": room, "elements": ["a", 5], "pivot": {"x": 0, "y": 0}, "rotation": 1})
    error = ada.wait("transform:error")
    assert (error["event"], error["code"], error["field"]) == ("elements:gesturing", "invalid", "elements[1]")
