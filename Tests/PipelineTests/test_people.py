"""Cursors and selections."""

import pytest

from app import fence


def at(x, y=2):
    return lambda data: data["x"] == x and data["y"] == y


def shown(app, room, user):
    """What the answer to a join says that a user's connections show."""
    members = {member["userId"]: member for member in app.join(room)["members"]}
    return [{key: value for key, value in connection.items() if key != "sid"}
            for connection in members[user]["connections"]]


def test_others_see_the_cursor_and_the_selection(single, apps, room, two):
    ada, bob = two
    quiet = apps(single.url, "quiet", auth={"previews": False})
    old = apps(single.url, "old", auth={"roomId": room})
    quiet.join(room)
    bob.wait("member:joined", where=lambda data: data["userId"] == "old")
    ada.send("cursor:moving", {"roomId": room, "x": 1.5, "y": -2})
    ada.ok("selection:set", {"roomId": room, "elementIds": ["a", "b"]})
    moved = bob.wait("cursor:moved")
    assert moved == {"roomId": room, "userId": "ada", "sid": moved["sid"], "x": 1.5, "y": -2, "dt": 0}
    changed = bob.wait("selection:changed")
    assert changed == {"roomId": room, "userId": "ada", "sid": moved["sid"], "elementIds": ["a", "b"]}
    ada.send("cursor:moving", {"roomId": room, "x": None, "y": None})
    bob.wait("cursor:moved", where=at(None, None))
    fence(room, ada, bob)
    for app in (ada, quiet, old):
        assert app.named("cursor:moved") == [] and app.named("selection:changed") == []


def test_they_end_with_the_connection(single, apps, room, two):
    ada, bob = two
    tablet = apps(single.url, "ada")
    tablet.join(room)
    for app, x in ((ada, 1), (tablet, 10)):
        app.send("cursor:moving", {"roomId": room, "x": x, "y": 2})
        app.ok("selection:set", {"roomId": room, "elementIds": [f"e{x}"]})
        bob.wait("cursor:moved", where=at(x))
        bob.wait("selection:changed", where=lambda data, x=x: data["elementIds"] == [f"e{x}"])
    late = apps(single.url, "late")
    state = {"cursor": {"x": 1, "y": 2}, "selection": ["e1"]}, {"cursor": {"x": 10, "y": 2}, "selection": ["e10"]}
    assert sorted(shown(late, room, "ada"), key=str) == sorted(state, key=str)
    tablet.vanish()
    gone = bob.wait("cursor:moved", where=at(None, None))
    assert bob.wait("selection:changed", where=lambda data: data["elementIds"] == [])["sid"] == gone["sid"]
    assert shown(apps(single.url, "later"), room, "ada") == [state[0]]
    ada.leave(room)
    bob.wait("selection:changed", where=lambda data: data["elementIds"] == [] and data["sid"] != gone["sid"])


def test_a_burst_is_folded_and_its_last_value_comes(room, two):
    ada, bob = two
    for x in range(400):
        ada.send("cursor:moving", {"roomId": room, "x": x, "y": 2})
    bob.wait("cursor:moved", where=at(399))
    seen = [data["x"] for data in bob.named("cursor:moved")]
    assert seen == sorted(seen) and len(seen) < 300


@pytest.mark.parametrize("event, payload, field", [
    ("cursor:moving", {"x": 1}, "y"), ("cursor:moving", {"x": None, "y": 1}, "x"),
    ("cursor:moving", {"x": "1", "y": 1}, "x"), ("selection:set", {}, "elementIds"),
    ("selection:set", {"elementIds": ["a", ""]}, "elementIds[1]"),
    ("selection:set", {"elementIds": ["a", "a"]}, "elementIds[1]"),
    ("selection:set", {"elementIds": None}, "elementIds"),
])
def test_wrong_ones_are_refused(room, two, event, payload, field):
    two[0].refused(event, {"roomId": room, **payload}, "invalid", field)


def test_a_selection_has_a_bound(room, two):
    payload = {"roomId": room, "elementIds": [f"e{number}" for number in range(501)]}
    two[0].refused("selection:set", payload, "too_large", "elementIds")
