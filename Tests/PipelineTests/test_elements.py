"""Creating, transforming, updating and deleting elements, and the rules of every type."""

import math

import pytest

from shapes import adjustments, assert_element


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


def test_the_size_is_what_is_drawn(canvas):
    answer = canvas.create(type="note", width=300, height=50, scaleX=-1.5, scaleY=0.5)
    assert_element(answer["element"], originalWidth=200, originalHeight=100, width=300, height=50, scaleX=-1.5)
    assert answer["adjusted"] == []
    # Given originals decide; the drawn size is then a hint.
    answer = canvas.create(type="note", originalWidth=80, originalHeight=60, scaleX=2, scaleY=2, width=160, height=121)
    assert_element(answer["element"], originalWidth=80, width=160, height=120)
    assert adjustments(answer) == {"height": (121, 120, "computed")}


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


def test_absent_means_leave_as_it_is(canvas):
    canvas.create(type="note", id="e", positionX=10, positionY=20, rotation=30, scaleX=2, scaleY=3)
    assert_element(canvas.move("e", positionX=11)["element"], positionX=11, positionY=20, rotation=30, scaleX=2, scaleY=3)
    assert_element(canvas.move("e", rotation=40)["element"], positionX=11, positionY=20, rotation=40, scaleX=2)
    assert_element(canvas.move("e", scaleY=1)["element"], scaleX=2, scaleY=1, height=100, width=200, rev=4)


def test_a_commit_that_changes_nothing_takes_a_number_too(canvas):
    canvas.create(type="note", id="e")
    assert canvas.move("e", positionX=0)["seq"] == 2
    answer = canvas.move("e", positionX=0)
    assert answer["seq"] == 3 and answer["adjusted"] == [] and answer["element"]["rev"] == 3


@pytest.mark.parametrize(
    "sent, stored",
    [(360, 0), (-90, 270), (720.5, 0.5), (-0.0, 0), (-720, 0), (359.999, 359.999), (1e6, 280), (-1e-30, 0)],
)
def test_angles_are_normalised_without_a_word(canvas, sent, stored):
    canvas.create(type="note", id="e")
    answer = canvas.move("e", rotation=sent)
    assert answer["adjusted"] == []
    rotation = answer["element"]["rotation"]
    assert 0 <= rotation < 360 and math.isclose(rotation, stored, abs_tol=1e-6)
    assert math.copysign(1, rotation) == 1


@pytest.mark.parametrize("sent, stored", [(0.5, 1), (-0.5, -1), (2.4, 2), (-2.5, -3), (7, 7), (0.49, 0)])
def test_positions_are_whole_pixels(canvas, sent, stored):
    canvas.create(type="note", id="e")
    answer = canvas.move("e", positionX=sent)
    assert answer["element"]["positionX"] == stored
    assert adjustments(answer) == ({} if sent == stored else {"positionX": (sent, stored, "integer")})


def test_positions_have_a_range(canvas):
    canvas.create(type="note", id="e")
    answer = canvas.move("e", positionX=3e9, positionY=-1e300)
    assert_element(answer["element"], positionX=1_000_000_000, positionY=-1_000_000_000)
    assert {field: why for field, (_, _, why) in adjustments(answer).items()} == {"positionX": "range", "positionY": "range"}


def test_a_size_hint_is_a_hint(canvas):
    canvas.create(type="note", id="e")
    assert canvas.move("e", scaleX=1.5, width=150.5, height=99.5)["adjusted"] == []
    answer = canvas.move("e", scaleX=1.5, width=151, height=100)
    assert adjustments(answer) == {"width": (151, 150, "computed")}


FREE = ["note", "text", "sticker", "anything at all"]
RANGES = {"note": (0.1, 10), "text": (0.1, 10), "sticker": (0.1, 10), "photo": (0.2, 5), "video": (0.5, 3), "audio": (0.5, 3)}


@pytest.mark.parametrize("kind", sorted(RANGES))
def test_scales_have_the_range_of_their_type(canvas, kind):
    low, high = RANGES[kind]
    canvas.create(type=kind, id="e", width=400, height=400)
    for sent, stored in [(high * 2, high), (high, high), (low / 2, low), (low, low), (1, 1)]:
        answer = canvas.move("e", scaleX=sent, scaleY=sent)
        assert_element(answer["element"], scaleX=stored, scaleY=stored, width=400 * stored, height=400 * stored)
        expected = {} if sent == stored else {axis: (sent, stored, "range") for axis in ("scaleX", "scaleY")}
        assert adjustments(answer) == expected


@pytest.mark.parametrize("kind", FREE)
def test_free_types_scale_each_axis_on_its_own(canvas, kind):
    canvas.create(type=kind, id="e")
    answer = canvas.move("e", scaleX=2, scaleY=0.5)
    assert_element(answer["element"], scaleX=2, scaleY=0.5, width=200, height=50)
    assert answer["adjusted"] == []


@pytest.mark.parametrize("kind", ["photo", "video", "audio"])
def test_locked_types_keep_their_proportion(canvas, kind):
    canvas.create(type=kind, id="e", width=400, height=300)
    # The axis that moved further decides; the other follows.
    answer = canvas.move("e", scaleX=2, scaleY=1.1)
    assert_element(answer["element"], scaleX=2, scaleY=2, width=800, height=600)
    assert adjustments(answer) == {"scaleY": (1.1, 2, "aspect")}
    answer = canvas.move("e", scaleX=1.9, scaleY=1)
    assert_element(answer["element"], scaleX=1, scaleY=1)
    assert adjustments(answer) == {"scaleX": (1.9, 1, "aspect")}
    # Only one given: that one.
    answer = canvas.move("e", scaleY=1.5)
    assert_element(answer["element"], scaleX=1.5, scaleY=1.5)
    assert answer["adjusted"] == []
    # As far in both directions: X. And the sign of each axis stays its own.
    answer = canvas.move("e", scaleX=-3, scaleY=0.75)
    assert_element(answer["element"], scaleX=-3, scaleY=3)
    # Range after aspect: what decides may be clamped for both.
    answer = canvas.move("e", scaleX=100, scaleY=1)
    assert_element(answer["element"], scaleX=RANGES[kind][1], scaleY=RANGES[kind][1])


def test_creating_compares_with_scale_one(canvas):
    answer = canvas.create(type="photo", id="e", originalWidth=400, originalHeight=300, scaleX=2, scaleY=1.1)
    assert_element(answer["element"], scaleX=2, scaleY=2, width=800, height=600)
    assert adjustments(answer) == {"scaleY": (1.1, 2, "aspect")}


def test_audio_does_not_turn_and_has_a_smallest_size(canvas):
    answer = canvas.create(type="audio", id="e", width=240, height=88, rotation=45)
    assert_element(answer["element"], rotation=0)
    assert adjustments(answer) == {"rotation": (45, 0, "rotation")}
    answer = canvas.move("e", rotation=10)
    assert answer["element"]["rotation"] == 0 and adjustments(answer) == {"rotation": (10, 0, "rotation")}
    assert canvas.move("e", rotation=360)["adjusted"] == []
    # 120 × 44 at least: half of the original is just that; a smaller original wins over the largest scale.
    assert_element(canvas.move("e", scaleX=0.5, scaleY=0.5)["element"], width=120, height=44)
    canvas.create(type="audio", id="small", originalWidth=150, originalHeight=60)
    answer = canvas.move("small", scaleX=0.5, scaleY=0.5)
    assert answer["element"]["width"] >= 120 - 1e-9 and answer["element"]["height"] >= 44 - 1e-9
    assert {why for _, _, why in adjustments(answer).values()} == {"size"}
    canvas.create(type="audio", id="tiny", originalWidth=10, originalHeight=10)
    answer = canvas.move("tiny", scaleX=1, scaleY=1)
    assert answer["element"]["width"] >= 120 - 1e-9 and answer["element"]["scaleX"] > 3


def test_video_has_a_smallest_side(canvas):
    canvas.create(type="video", id="e", originalWidth=160, originalHeight=60)
    answer = canvas.move("e", scaleX=0.5, scaleY=0.5)
    assert math.isclose(answer["element"]["height"], 44) and answer["element"]["scaleX"] == answer["element"]["scaleY"]
    assert {why for _, _, why in adjustments(answer).values()} == {"size"}


def test_a_mirror_is_a_sign(canvas):
    canvas.create(type="note", id="e")
    answer = canvas.move("e", scaleX=-2, scaleY=-20)
    assert_element(answer["element"], scaleX=-2, scaleY=-10, width=200, height=1000)
    assert adjustments(answer) == {"scaleY": (-20, -10, "range")}
    answer = canvas.move("e", scaleX=0, scaleY=-0.0)
    assert_element(answer["element"], scaleX=0.1, scaleY=0.1, width=10)


def test_text_has_a_font_size(canvas):
    answer = canvas.create(type="text", id="e", fontSize=100)
    assert answer["element"]["fontSize"] == 72 and adjustments(answer) == {"fontSize": (100, 72, "range")}
    answer = canvas.update("e", fontSize=1)
    assert answer["element"]["fontSize"] == 12 and adjustments(answer) == {"fontSize": (1, 12, "range")}
    answer = canvas.update("e", fontSize=30.5)
    assert answer["element"]["fontSize"] == 30.5 and answer["adjusted"] == []
    assert canvas.create(type="note", fontSize=200)["element"]["fontSize"] == 200


def test_snapping(canvas):
    canvas.create(type="note", id="e", snapDegrees=45)
    answer = canvas.move("e", rotation=50)
    assert answer["element"]["rotation"] == 45 and adjustments(answer) == {"rotation": (50, 45, "snap")}
    assert canvas.move("e", rotation=-45)["adjusted"] == []
    assert canvas.move("e", rotation=350)["element"]["rotation"] == 0
    canvas.update("e", snapDegrees=90)
    assert canvas.move("e", rotation=50)["element"]["rotation"] == 90


def test_bounds(canvas):
    canvas.create(type="note", id="e", bounds={"x": 0, "y": 10, "width": 100, "height": 50})
    answer = canvas.move("e", positionX=150, positionY=-5)
    assert_element(answer["element"], positionX=100, positionY=10)
    assert adjustments(answer) == {"positionX": (150, 100, "bounds"), "positionY": (-5, 10, "bounds")}
    assert canvas.move("e", positionX=100, positionY=60)["adjusted"] == []


def test_locks(canvas, artist, room):
    canvas.create(type="note", id="e")
    answer = canvas.update("e", locked=True)
    assert answer["element"]["locked"] is True and answer["adjusted"] == []
    artist.refused("element:transform", {"roomId": room, "elementId": "e", "positionX": 1}, "forbidden", "locked")
    artist.refused("element:delete", {"roomId": room, "elementId": "e"}, "forbidden", "locked")
    canvas.update("e", locked=False)
    assert canvas.move("e", positionX=1)["element"]["positionX"] == 1
    artist.ok("element:delete", {"roomId": room, "elementId": "e"})


OPTIONS = {
    "fontSize": 20, "zIndex": 3, "snapDegrees": 45, "bounds": {"x": 0, "y": 0, "width": 9, "height": 9},
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


def test_a_removal_and_an_absence_are_different_bodies(apps, single, room):
    app = apps(single.url, "numbers")
    app.join(room)
    app.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "e", "zIndex": 1, "own": 1}, "n": 1})
    update = {"roomId": room, "elementId": "e", "n": 2}
    first = app.ok("element:update", {**update, "set": {"zIndex": None, "own": None}})
    for other in [{}, {"zIndex": None}, {"own": None}, {"zIndex": 0, "own": None}, {"zIndex": None, "own": ""}]:
        app.refused("element:update", {**update, "set": other}, "conflict", "n")
    again = app.ok("element:update", {**update, "set": {"own": None, "zIndex": None}})
    assert again["duplicate"] is True and again["element"] == first["element"]


def test_an_update_resizes_about_the_anchor(canvas):
    canvas.create(type="text", id="e", positionX=50, positionY=60, width=100, height=40, scaleX=2, scaleY=-2)
    answer = canvas.update("e", originalWidth=300, content="longer")
    assert answer["adjusted"] == []
    assert_element(
        answer["element"], originalWidth=300, width=600, originalHeight=20, height=40, scaleX=2, scaleY=-2, positionX=50,
        positionY=60, anchorX=0.5, content="longer")
    answer = canvas.update("e", originalWidth=1e12, originalHeight=1e-12)
    assert_element(answer["element"], originalWidth=1e9, originalHeight=0.001)
    assert adjustments(answer) == {
        "originalWidth": (1e12, 1e9, "range"), "originalHeight": (1e-12, 0.001, "range"),
    }


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


def test_a_resized_element_keeps_the_smallest_size_of_its_type(canvas):
    canvas.create(type="audio", id="e", width=240, height=88, scaleX=0.5, scaleY=0.5)
    answer = canvas.update("e", originalWidth=100, originalHeight=200)
    assert_element(answer["element"], originalWidth=240, width=120, originalHeight=200, height=100, scaleX=0.5)
    assert adjustments(answer) == {"originalWidth": (100, 240, "size")}
    assert canvas.update("e", originalWidth=240)["adjusted"] == []
    # A resized picture has other proportions; its scales stay alike.
    canvas.create(type="photo", id="p", width=400, height=300)
    canvas.update("p", originalHeight=400)
    assert_element(canvas.move("p", scaleX=2)["element"], width=800, height=800)


def test_a_locked_element_is_resized_only_by_what_unlocks_it(canvas, artist, room):
    canvas.create(type="note", id="e", locked=True)
    resize = {"roomId": room, "elementId": "e", "set": {"originalWidth": 50}}
    artist.refused("element:update", resize, "forbidden", "locked")
    artist.refused("element:update", {**resize, "set": {"originalWidth": 50, "locked": True}}, "forbidden", "locked")
    assert_element(canvas.update("e", content="x", zIndex=None)["element"], width=100, locked=True)
    answer = canvas.update("e", originalWidth=50, locked=False)
    assert_element(answer["element"], width=50)
    assert "locked" not in answer["element"]
    assert_element(canvas.update("e", originalWidth=70, locked=True)["element"], width=70, locked=True)


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
