"""Groups, gestures and presets: edits of several elements, and edits on top of what is stored."""

import math

import pytest

from app import fence, previews_at
from shapes import adjustments, assert_element, assert_preview

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
    legacy = apps(single.url, "old", auth={"roomId": room})
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
    legacy.wait("element:transformed", lambda update: update["element"]["id"] == "a")
    parts = legacy.named("element:transformed")
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


def test_a_group_is_all_or_nothing(canvas, room):
    ada, bob = canvas
    ada.ok("element:update", {"roomId": room, "elementId": "b", "set": {"locked": True}})
    before = elements(bob, room)
    group = [{"elementId": "a", "positionX": 99}, {"elementId": "photo", "positionX": 99}]

    def refused(event, payload, code, field):
        ada.refused(event, {"roomId": room, **payload}, code, field)

    refused("elements:transform", {"elements": group + [{"elementId": "x", "positionX": 1}]}, "not_found",
            "elements[2].elementId")
    refused("elements:transform", {"elements": group + [{"elementId": "b", "positionX": 1}]}, "forbidden", "locked")
    refused("elements:delete", {"elementIds": ["a", "b"]}, "forbidden", "locked")
    refused("elements:delete", {"elementIds": ["a", "x"]}, "not_found", "elementIds[1]")
    pivot = {"x": 0, "y": 0}
    refused("elements:gesture", {"elements": ["a", "b"], "pivot": pivot, "rotation": 5}, "forbidden", "locked")
    refused("elements:gesture", {"elements": ["a", "label"], "pivot": pivot, "rotation": 5}, "invalid", "elements[1]")
    assert elements(bob, room) == before


def test_a_group_is_deleted_with_its_annotations(canvas, apps, single, room):
    ada, bob = canvas
    legacy = apps(single.url, "old", auth={"roomId": room})
    answer = ada.ok("elements:delete", {"roomId": room, "elementIds": ["b", "photo"]})
    assert answer["elementIds"] == ["b", "photo", "label"]
    deleted = bob.wait("element:deleted")
    assert deleted["elementIds"] == ["b", "photo", "label"] and deleted["seq"] == answer["seq"]
    legacy.wait("element:deleted", lambda data: data["elementId"] == "label")
    assert [(data["elementId"], data["seq"]) for data in legacy.named("element:deleted")] == [
        (name, answer["seq"]) for name in ("b", "photo", "label")
    ]
    assert elements(bob, room).keys() == {"a"}


def test_a_gesture_builds_on_what_is_stored(canvas, room):
    """Two people pull the same element at once: both movements count."""
    ada, bob = canvas
    gesture = {"roomId": room, "elementId": "a", "translation": {"x": 5.4, "y": -2}, "scale": 2, "rotation": 350}
    first = ada.ok("element:gesture", gesture)
    assert_element(first["element"], positionX=15, positionY=18, scaleX=2, scaleY=2, rotation=350, width=200)
    assert adjustments(first) == {"positionX": (15.4, 15, "integer")}
    second = bob.ok("element:gesture", {**gesture, "scale": {"x": 0.5, "y": -1}, "rotation": 20})
    assert_element(second["element"], positionX=20, positionY=16, scaleX=1, scaleY=-2, rotation=10, updatedBy="bob")
    update = ada.wait("element:transformed", lambda update: update["seq"] == second["seq"])
    assert update["element"] == second["element"]


@pytest.mark.parametrize("rotation", [0, 30, 90])
def test_an_anchor_moves_nothing_visible(canvas, room, rotation):
    ada, _ = canvas
    ada.ok("element:transform", {"roomId": room, "elementId": "a", "transform": {"rotation": rotation, "scaleX": 2}})
    answer = ada.ok("element:gesture", {"roomId": room, "elementId": "a", "anchor": {"x": 0, "y": 0}})
    element = answer["element"]
    turn = math.radians(rotation)
    # From the centre to the top left corner: 100 px to the left and 50 px up, in the element's own axes.
    x = 10 - 100 * math.cos(turn) + 50 * math.sin(turn)
    y = 20 - 100 * math.sin(turn) - 50 * math.cos(turn)
    assert element["anchorX"] == 0 and element["anchorY"] == 0
    assert abs(element["positionX"] - x) <= 0.5 and abs(element["positionY"] - y) <= 0.5


def test_an_annotations_anchor_moves_in_its_parents_pixels(canvas, room):
    ada, _ = canvas
    answer = ada.ok("element:gesture", {"roomId": room, "elementId": "label", "anchor": {"x": 0, "y": 0.5}})
    # 50 of the 200 pixels of the photo.
    assert_element(answer["element"], positionX=0.25, positionY=0.5, anchorX=0)


def test_a_group_turns_about_its_pivot(canvas, room):
    ada, bob = canvas
    gesture = {"roomId": room, "elements": ["a", "b"], "pivot": {"x": 60, "y": 20}, "rotation": 90, "scale": 2}
    answer = ada.ok("elements:gesture", gesture)
    assert [(e["positionX"], e["positionY"], e["rotation"], e["scaleX"]) for e in answer["elements"]] == [
        (60, -80, 90, 2), (60, 120, 90, 2)
    ]
    assert bob.wait("elements:transformed")["elements"] == answer["elements"]


def test_a_group_is_mirrored_and_stretched_along_the_canvas(canvas, room):
    ada, bob = canvas
    for element, rotation in [("a", 30), ("b", 90)]:
        ada.ok("element:transform", {"roomId": room, "elementId": element, "transform": {"rotation": rotation}})
    gesture = {"roomId": room, "elements": ["a", "b"], "pivot": {"x": 0, "y": 0}, "scale": {"x": -1, "y": 1}}
    ada.send("elements:gesturing", gesture)
    # What a scale turns is shown turned; at a quarter turn none does.
    assert [preview["transform"] for preview in bob.wait("elements:transforming")["elements"]] == [
        {"rotation": 330, "scaleX": -1, "scaleY": 1}, {"scaleX": 1, "scaleY": -1}
    ]
    def stored(gesture):
        a, b = ada.ok("elements:gesture", gesture)["elements"]
        return [(each["positionX"], each["rotation"], each["scaleX"], each["scaleY"]) for each in (a, b)]

    assert stored(gesture) == [(-10, 330, -1, 1), (-110, 90, 1, -1)]
    a, b = stored({**gesture, "scale": {"x": 2, "y": 1}})
    assert b == (-220, 90, 1, -2)
    # Its x axis points where the scale takes it; both sides have the length that it gives them.
    assert a == pytest.approx((-20, 343.8979, -1.8028, 1.3229), abs=1e-4)


def test_presets(canvas, room):
    ada, bob = canvas
    expected = [
        ("rotateCW", {"rotation": 90}), ("rotateCW", {"rotation": 180}), ("rotateCCW", {"rotation": 90}),
        ("rotate180", {"rotation": 270}), ("flipX", {"scaleX": -1, "rotation": 270}), ("flipY", {"scaleY": -1}),
        ("flipX", {"scaleX": 1, "scaleY": -1}), ("reset", {"rotation": 0, "scaleX": 1, "scaleY": 1, "positionX": 10}),
    ]
    for preset, values in expected:
        answer = ada.ok("element:preset", {"roomId": room, "elementId": "a", "preset": preset})
        assert_element(answer["element"], **values)
        assert bob.wait_seq(answer["seq"]).data["element"] == answer["element"]
    ada.refused("element:preset", {"roomId": room, "elementId": "a", "preset": "spin"}, "invalid", "preset")


def test_the_rules_hold_for_deltas_too(canvas, room):
    ada, _ = canvas
    ada.ok("elements:create", {"roomId": room, "elements": [
        {"type": "audio", "id": "audio"}, {"type": "note", "id": "snaps", "snapDegrees": 45},
        {"type": "note", "id": "bound", "bounds": {"x": 0, "y": 0, "width": 50, "height": 50}},
    ]})
    cases = [
        ("audio", {"rotation": 30}, {"rotation": (30, 0, "rotation")}),
        ("snaps", {"rotation": 50}, {"rotation": (50, 45, "snap")}),
        ("bound", {"translation": {"x": 70, "y": -1}}, {"positionX": (70, 50, "bounds"), "positionY": (-1, 0, "bounds")}),
        ("photo", {"scale": {"x": 9, "y": 1}}, {"scaleX": (9, 5, "range")}),
    ]
    for element, gesture, adjusted in cases:
        answer = ada.ok("element:gesture", {"roomId": room, "elementId": element, **gesture})
        found = adjustments(answer)
        assert {key: found.get(key) for key in adjusted} == adjusted, (element, found)


def test_a_repeated_group_gets_its_first_answer(canvas, room):
    ada, _ = canvas
    commits = [
        ("elements:transform", {"elements": [{"elementId": "a", "positionX": 0.5}, {"elementId": "b", "positionY": 1}]}),
        ("element:gesture", {"elementId": "a", "translation": {"x": 1, "y": 1}}),
        ("elements:gesture", {"elements": ["a", "b"], "pivot": {"x": 0, "y": 0}, "scale": 1.5}),
        ("element:preset", {"elementId": "a", "preset": "rotateCW"}),
        ("elements:delete", {"elementIds": ["a", "photo"]}),
    ]
    answers = [ada.ok(event, {"roomId": room, "n": n, **payload}) for n, (event, payload) in enumerate(commits, 1)]
    for n, (event, payload) in enumerate(commits, 1):
        assert ada.ok(event, {"roomId": room, "n": n, **payload}) == {**answers[n - 1], "duplicate": True}
    ada.refused("element:gesture", {"roomId": room, "n": 2, "elementId": "a", "translation": {"x": 2, "y": 1}}, "conflict", "n")


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
    legacy = apps(single.url, "old", auth={"roomId": room})
    fence(room, ada, bob, legacy)
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
        assert_preview(legacy.wait("element:transforming", lambda preview: preview["elementId"] == element))
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
