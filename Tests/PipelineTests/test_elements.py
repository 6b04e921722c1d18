"""Creating, updating and deleting elements. The rules of every type are Canvas's tests."""

import pytest

from shapes import assert_element


@pytest.fixture(scope="module")
def artist(single):
    """One app for all of these tests; each works in a room of its own."""
    from app import App

    app = App(single.url, "ada").connect()
    yield app
    app.close()


@pytest.fixture
def canvas(artist, room):
    """Creates and transforms in the test's room: canvas.create(type=…), canvas.move(id, …)."""
    artist.join(room)

    class Canvas:
        def create(self, **element):
            return artist.ok("element:create", {"roomId": room, "element": element})

        def move(self, element, **fields):
            transform = {key: fields.pop(key) for key in ("rotation", "scaleX", "scaleY") if key in fields}
            if transform:
                fields["transform"] = transform
            return artist.ok("element:transform", {"roomId": room, "elementId": element, **fields})

        def update(self, element, **changes):
            return artist.ok("element:update", {"roomId": room, "elementId": element, "set": changes})

    yield Canvas()
    artist.leave(room)


# Creating


def test_defaults(canvas):
    answer = canvas.create(type="note")
    assert answer["seq"] == 1 and answer["adjusted"] == []
    element = answer["element"]
    assert_element(
        element, type="note", positionX=0, positionY=0, width=100, height=100, rotation=0, scaleX=1, scaleY=1,
        originalWidth=100, originalHeight=100, anchorX=0.5, anchorY=0.5, createdBy="ada", updatedBy="ada", rev=1,
    )
    assert isinstance(element["id"], str) and 1 <= len(element["id"].encode()) <= 128
    assert canvas.create(type="note")["element"]["id"] != element["id"]


def test_own_fields_are_kept_as_they_are(canvas, artist, room):
    own = {
        "content": "café ☕", "list": [1, 2.5, None, True, {"a": []}], "color": "#ff0", "big": 1e300,
        "nothing": None, "__proto__": {"x": 1},
    }
    answer = canvas.create(type="note", id="own", **own)
    assert {key: answer["element"][key] for key in own} == own
    canvas.update("own", content="new", list=[], extra={"deep": {"er": 1}})
    joined = artist.join(room)
    element = joined["elements"][0]
    assert element["content"] == "new" and element["list"] == [] and element["extra"] == {"deep": {"er": 1}}
    assert element["color"] == "#ff0" and element["nothing"] is None


def test_ids_are_bytes(canvas, artist, room):
    """Any Unicode, compared byte by byte; 128 bytes at most."""
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    ids = [composed, decomposed, "'; DROP TABLE elements; --", "\U0001f600" * 32, "x" * 128, " ", "%s", "ä" * 64]
    for name in ids:
        assert canvas.create(type="note", id=name)["element"]["id"] == name
    canvas.move(decomposed, positionX=5)
    elements = {element["id"]: element for element in artist.join(room)["elements"]}
    assert set(elements) == set(ids)
    assert elements[decomposed]["positionX"] == 5 and elements[composed]["positionX"] == 0


def test_an_id_is_used_once_for_ever(canvas, artist, room):
    canvas.create(type="note", id="e")
    artist.refused("element:create", {"roomId": room, "element": {"type": "note", "id": "e"}}, "conflict")
    artist.ok("element:delete", {"roomId": room, "elementId": "e"})
    artist.refused("element:create", {"roomId": room, "element": {"type": "note", "id": "e"}}, "gone")
    artist.refused("element:transform", {"roomId": room, "elementId": "e", "positionX": 1}, "gone")
    artist.refused("element:update", {"roomId": room, "elementId": "e", "set": {"content": 1}}, "gone")
    artist.refused("element:delete", {"roomId": room, "elementId": "e"}, "gone")
    artist.refused("element:transform", {"roomId": room, "elementId": "never", "positionX": 1}, "not_found")


def test_many_at_once_are_all_or_nothing(canvas, artist, room):
    many = [{"type": "note", "id": f"e{index}", "positionX": index} for index in range(500)]
    answer = artist.ok("elements:create", {"roomId": room, "elements": many})
    assert answer["seq"] == 1 and [element["id"] for element in answer["elements"]] == [e["id"] for e in many]
    assert artist.wait("elements:created", lambda data: data["roomId"] == room)["seq"] == 1
    some = [{"type": "note", "id": "new"}, {"type": "note", "id": "e7"}]
    artist.refused("elements:create", {"roomId": room, "elements": some}, "conflict")
    some = [{"type": "note", "id": "new"}, {"type": "note", "rotation": "x"}]
    artist.refused("elements:create", {"roomId": room, "elements": some}, "invalid", "elements[1].rotation")
    some = [{"type": "note", "id": "twin"}, {"type": "note", "id": "twin"}]
    artist.refused("elements:create", {"roomId": room, "elements": some}, "invalid", "elements[1].id")
    assert canvas.create(type="note", id="new")["seq"] == 2


def test_adjustments_of_many_name_their_elements(artist, canvas, room):
    answer = artist.ok(
        "elements:create",
        {"roomId": room, "elements": [{"type": "note", "id": "a", "scaleX": 99}, {"type": "note", "id": "b", "positionX": 1.5}]},
    )
    found = {(entry["elementId"], entry["field"], entry["why"]) for entry in answer["adjusted"]}
    assert ("a", "scaleX", "range") in found and ("b", "positionX", "integer") in found


# Transforming


OPTIONS = {
    "fontSize": 20, "zIndex": 3, "snapDegrees": 45, "bounds": {"x": 0, "y": 0, "width": 9, "height": 9},
    "constraints": {"axis": "x", "rotation": {"min": -30, "max": 45}, "scale": {"min": 1, "max": 2}, "grid": {"x": 9}},
    "tint": "red", "content": {"text": None, "list": [None]}, "nothing": None,
}


def test_null_removes_what_an_element_need_not_have(canvas, artist, room):
    canvas.create(type="text", id="e", **OPTIONS)
    for name in ["zIndex", "tint"]:
        answer = canvas.update("e", **{name: None, "left": 1})
        assert name not in answer["element"] and answer["adjusted"] == []
        assert all(answer["element"][other] == OPTIONS[other] for other in OPTIONS if other not in ("zIndex", "tint"))
    removed = canvas.update("e", **dict.fromkeys(OPTIONS), left=2)["element"]
    assert not removed.keys() & OPTIONS.keys() and removed["left"] == 2
    # What is not there can be removed, too; the commit takes a number as any other.
    again = canvas.update("e", **dict.fromkeys(OPTIONS))
    assert again["element"] == {**removed, "rev": removed["rev"] + 1} and again["adjusted"] == []
    assert artist.join(room)["elements"] == [again["element"]]
    # The rules no longer know of it.
    assert_element(canvas.move("e", positionX=500, rotation=50)["element"], positionX=500, rotation=50)
    # Own objects are replaced whole, and null inside them is a value.
    assert canvas.update("e", content={"a": None})["element"]["content"] == {"a": None}


def test_constraints_hold_what_moves_and_are_undone_as_other_fields(canvas, artist, room):
    canvas.create(type="note", id="e", positionX=3, positionY=7)
    held = {"axis": "x", "rotation": {"min": -30, "max": 45}, "scale": {"min": 1, "max": 2}, "grid": {"x": 10}}
    answer = canvas.update("e", constraints=held)
    assert answer["element"]["constraints"] == held and answer["adjusted"] == []
    assert_element(answer["element"], positionX=3, positionY=7)
    moved = canvas.move("e", positionX=26, positionY=90, rotation=200, scaleX=-3)
    assert_element(moved["element"], positionX=30, positionY=7, rotation=330, scaleX=-2)
    assert {(one["field"], one["sent"], one["stored"], one["why"]) for one in moved["adjusted"]} == {
        ("positionX", 26, 30, "constraint"), ("positionY", 90, 7, "constraint"), ("rotation", 200, 330, "constraint"),
        ("scaleX", -3, -2, "constraint"),
    }
    for _ in range(2):
        artist.ok("history:undo", {"roomId": room})
    [element] = artist.join(room)["elements"]
    assert "constraints" not in element and element["positionX"] == 3
    artist.ok("history:redo", {"roomId": room})
    assert artist.join(room)["elements"][0]["constraints"] == held


def test_a_guide_keeps_its_axis(canvas, artist, room):
    guide = canvas.create(type="guide", id="g", axis="y", positionY=40, rotation=3)
    assert guide["element"]["axis"] == "y" and [one["why"] for one in guide["adjusted"]] == ["rotation"]
    for axis in ["x", None, "z"]:
        artist.refused("element:update", {"roomId": room, "elementId": "g", "set": {"axis": axis}}, "invalid", "set.axis")
    assert canvas.update("g", axis="y", label="fold")["element"]["label"] == "fold"
    assert canvas.move("g", positionY=55)["element"]["positionY"] == 55


def test_a_drawn_size_alone_is_refused_with_what_resizes(canvas, artist, room):
    canvas.create(type="note", id="e")
    for event, payload, field in [
        ("element:transform", {"elementId": "e", "width": 300}, "transform"),
        ("element:transform", {"elementId": "e", "height": 300, "transform": {}}, "transform"),
        ("elements:transform", {"elements": [{"elementId": "e", "width": 5}]}, "elements[0].transform"),
        ("element:update", {"elementId": "e", "set": {"width": 300}}, "set.width"),
    ]:
        message = artist.refused(event, {"roomId": room, **payload}, "invalid", field)["message"]
        assert "originalWidth" in message and message.endswith("."), message
    nothing = artist.refused("element:transform", {"roomId": room, "elementId": "e"}, "invalid", "transform")
    assert "originalWidth" not in nothing["message"]


def test_annotations_of_a_resized_element_stay_as_they_are(canvas, artist, room):
    canvas.create(type="photo", id="p")
    label = canvas.create(
        type="text", id="t", parentId="p", space="normalized", positionX=0.25, positionY=1, width=10, height=5)["element"]
    canvas.update("p", originalWidth=400)
    elements = {element["id"]: element for element in artist.join(room)["elements"]}
    assert elements["t"] == label and elements["p"]["width"] == 400
    assert_element(canvas.update("t", originalWidth=20)["element"], width=20, positionX=0.25, positionY=1)


def test_updates_are_told(two, room, note):
    ada, bob = two
    answer = ada.ok("element:update", {"roomId": room, "elementId": "note-1", "set": {"content": "x", "zIndex": 4}})
    assert answer["element"]["content"] == "x" and answer["element"]["zIndex"] == 4 and answer["element"]["rev"] == 2
    for app in (ada, bob):
        update = app.wait("element:updated")
        assert update["roomId"] == room and update["seq"] == answer["seq"] and update["userId"] == "ada"
        assert update["element"] == answer["element"] and update["sid"]
    answer = bob.ok("element:delete", {"roomId": room, "elementId": "note-1"})
    for app in (ada, bob):
        deleted = app.wait("element:deleted")
        assert deleted == {
            "roomId": room, "elementId": "note-1", "elementIds": ["note-1"], "seq": answer["seq"], "userId": "bob",
            "sid": deleted["sid"],
        }
    # Who changed it last stands in the element.
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "f"}})
    answer = bob.ok("element:transform", {"roomId": room, "elementId": "f", "positionX": 1})
    assert_element(answer["element"], createdBy="ada", updatedBy="bob")
