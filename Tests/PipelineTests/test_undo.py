"""Undo and redo: a user's changes of a room, taken back and made again from any device."""

import pytest

from shapes import assert_element
from test_groups import GEOMETRY, elements
from test_history import read


@pytest.fixture
def canvas(two, room):
    """Two members of the test's room, and two notes and an annotated photo in it, which somebody else has made."""
    ada, bob = two
    answer = bob.ok(
        "elements:create",
        {
            "roomId": room,
            "undoable": False,
            "elements": [
                {"type": "note", "id": "a", "mine": 1},
                {"type": "note", "id": "b"},
                {"type": "photo", "id": "photo"},
                {"type": "text", "id": "label", "parentId": "photo"},
            ],
        },
    )
    for app in two:
        app.wait_seq(answer["seq"])
    return ada, bob


def assert_geometry(element, **expected):
    """An element of a group, with these values among others."""
    assert element.keys() == GEOMETRY
    assert {name: element[name] for name in expected} == expected


def test_an_undo_takes_back_and_a_redo_makes_again(canvas, apps, single, room):
    ada, bob = canvas
    old = apps(single.url, "old", auth={"roomId": room})
    ada.ok("element:transform", {"roomId": room, "elementId": "a", "positionX": 50, "transform": {"rotation": 30}})
    undone = ada.ok("history:undo", {"roomId": room})
    assert undone["seq"] == 3 and undone["undone"] == {
        "seq": 2, "event": "element:transformed", "elementIds": ["a"], "skipped": 0,
    }
    assert_geometry(undone["elements"][0], id="a", positionX=0, rotation=0, rev=3)
    for app in (ada, bob):
        update = app.wait("elements:transformed")
        assert update["cause"] == "undo" and update["seq"] == 3 and update["userId"] == "ada" and update["sid"]
        assert update["elements"] == undone["elements"]
    old.wait("element:transformed", lambda update: update["seq"] == 3 and update["element"]["positionX"] == 0)
    redone = ada.ok("history:redo", {"roomId": room})
    assert redone["undone"]["seq"] == 3
    assert bob.wait("elements:transformed", lambda update: update["seq"] == 4)["cause"] == "redo"
    assert_element(elements(bob, room)["a"], positionX=50, rotation=30)
    # What was missed is told as it was broadcast.
    late = apps(single.url, "late")
    epoch = late.join(room)["epoch"]
    late.leave(room)
    updates = late.join(room, resume={"epoch": epoch, "seq": 2})["updates"]
    assert [(update["event"], update["data"]["cause"]) for update in updates] == [
        ("elements:transformed", "undo"), ("elements:transformed", "redo"),
    ]


def test_nothing_to_undo_is_an_answer_that_uses_up_the_number(canvas, room):
    ada, bob = canvas
    first = ada.ok("history:undo", {"roomId": room, "n": 1})
    assert first == {"ok": True, "seq": 1, "elements": []}
    ada.ok("element:transform", {"roomId": room, "elementId": "a", "positionX": 1, "n": 2})
    assert ada.ok("history:undo", {"roomId": room, "n": 1}) == {**first, "duplicate": True}
    ada.refused("history:redo", {"roomId": room, "n": 1}, "conflict", "n")
    undone = ada.ok("history:undo", {"roomId": room, "n": 3})
    assert ada.ok("history:undo", {"roomId": room, "n": 3}) == {**undone, "duplicate": True}
    # The creation said that it was a program's.
    assert bob.ok("history:undo", {"roomId": room})["elements"] == []


def test_the_stack_follows_the_user_to_another_device(canvas, apps, single, room):
    ada, _ = canvas
    ada.ok("element:preset", {"roomId": room, "elementId": "a", "preset": "rotateCW"})
    ada.close()
    tablet = apps(single.url, "ada")
    tablet.join(room)
    assert_geometry(tablet.ok("history:undo", {"roomId": room})["elements"][0], id="a", rotation=0)
    phone = apps(single.url, "ada")
    phone.join(room)
    assert_geometry(phone.ok("history:redo", {"roomId": room})["elements"][0], id="a", rotation=90)


def test_creations_and_deletions_come_and_go_with_their_annotations(canvas, room):
    ada, bob = canvas
    deleted = ada.ok("element:delete", {"roomId": room, "elementId": "photo"})
    assert deleted["elementIds"] == ["photo", "label"]
    ada.ok("history:undo", {"roomId": room})
    created = bob.wait("elements:created", lambda update: update["seq"] == deleted["seq"] + 1)
    assert created["cause"] == "undo" and [element["id"] for element in created["elements"]] == ["photo", "label"]
    assert elements(bob, room)["label"]["parentId"] == "photo"
    ada.ok("history:redo", {"roomId": room})
    again = bob.wait("element:deleted", lambda update: update["seq"] == deleted["seq"] + 2)
    assert again["elementIds"] == ["photo", "label"] and again["cause"] == "redo"
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "new", "mine": {"deep": [1]}}})
    ada.ok("history:undo", {"roomId": room})
    assert bob.wait("element:deleted", lambda update: update["elementId"] == "new")["cause"] == "undo"
    ada.ok("history:redo", {"roomId": room})
    flat = bob.wait("element:created", lambda update: update.get("cause") == "redo")
    assert flat["id"] == "new" and flat["mine"] == {"deep": [1]} and flat["roomId"] == room


def test_commits_of_one_group_are_one_entry_of_several_kinds(canvas, apps, single, room):
    ada, bob = canvas
    old = apps(single.url, "old", auth={"roomId": room})
    before = elements(bob, room)
    for event, payload in [
        ("element:create", {"element": {"type": "note", "id": "new"}}),
        ("element:transform", {"elementId": "a", "positionX": 5}),
        ("element:update", {"elementId": "a", "set": {"mine": 2}}),
        ("element:delete", {"elementId": "photo"}),
    ]:
        ada.ok(event, {"roomId": room, "undoGroup": "paste", **payload})
    after = elements(bob, room)
    undone = ada.ok("history:undo", {"roomId": room})
    assert undone["undone"]["event"] == "element:deleted"
    assert set(undone["undone"]["elementIds"]) == {"new", "a", "photo", "label"}
    change = bob.wait("elements:changed")
    assert change["cause"] == "undo" and change["seq"] == undone["seq"] and change["userId"] == "ada"
    assert [element["id"] for element in change["created"]] == ["photo", "label"]
    assert [element["id"] for element in change["changed"]] == ["a"] and change["deletedIds"] == ["new"]
    assert_same(elements(bob, room), before)
    # An app of 1.0 gets what it knows, one by one.
    old.wait("element:deleted", lambda update: update["elementId"] == "new" and update["seq"] == undone["seq"])
    assert [event.data["id"] for event in old.events if event.name == "element:created" and event.data["seq"] == undone["seq"]] == ["photo", "label"]
    ada.ok("history:redo", {"roomId": room})
    assert_same(elements(bob, room), after)


def assert_same(found, expected):
    """The same elements, apart from who changed them last and how often."""

    def plain(elements):
        return {id: {key: value for key, value in element.items() if key not in ("rev", "updatedBy")} for id, element in elements.items()}

    assert plain(found) == plain(expected)


def test_an_entry_that_cannot_be_taken_back_stays_and_is_named(canvas, room):
    ada, bob = canvas
    older = ada.ok("element:transform", {"roomId": room, "elementId": "b", "positionX": 5})
    moved = ada.ok("element:transform", {"roomId": room, "elementId": "a", "positionX": 50})
    bob.ok("element:update", {"roomId": room, "elementId": "a", "set": {"locked": True}})
    error = ada.refused("history:undo", {"roomId": room}, "forbidden", "locked")
    assert error["entry"] == {"seq": moved["seq"], "event": "element:transformed", "elementIds": ["a"]}
    assert ada.refused("history:undo", {"roomId": room}, "forbidden", "locked") == error
    found = elements(ada, room)
    assert found["a"]["positionX"] == 50 and found["b"]["positionX"] == 5
    # Named, it is left out, and only if it is the newest.
    ada.refused("history:undo", {"roomId": room, "past": older["seq"]}, "conflict", "past")
    undone = ada.ok("history:undo", {"roomId": room, "past": moved["seq"]})
    assert undone["undone"] == {
        "seq": older["seq"], "event": "element:transformed", "elementIds": ["b"], "skipped": 0,
    }
    assert ada.ok("history:undo", {"roomId": room})["elements"] == []


def test_a_refused_undo_is_told_without_an_acknowledgement_too(canvas, room):
    ada, bob = canvas
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "new"}})
    bob.ok("element:transform", {"roomId": room, "elementId": "new", "positionX": 7})
    ada.send("history:undo", {"roomId": room})
    error = ada.wait("transform:error")
    assert error["event"] == "history:undo" and error["code"] == "conflict" and error["by"] == "bob"
    assert error["entry"]["elementIds"] == ["new"]


def test_who_may_not_commit_may_not_undo(apps, single, room):
    guest = apps(single.url, "guest")
    guest.refused("history:undo", {"roomId": room}, "forbidden", "roomId")


def test_the_history_shows_undos_like_any_change(canvas, room, single):
    ada, _ = canvas
    ada.ok("element:transform", {"roomId": room, "elementId": "a", "positionX": 50})
    ada.ok("history:undo", {"roomId": room})
    ada.ok("history:redo", {"roomId": room})
    edit, entry, redo = read(single, room, after=1)["entries"]
    assert entry["event"] == "elements:transformed" and entry["userId"] == "ada"
    assert "cause" not in edit and entry["cause"] == "undo" and redo["cause"] == "redo"
    assert entry["changes"][0]["before"]["positionX"] == 50 and entry["changes"][0]["after"]["positionX"] == 0
