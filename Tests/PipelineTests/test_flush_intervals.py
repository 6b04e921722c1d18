"""A gateway in whose eyes every preview is late: previews come less often, apps are told, and it passes by itself."""

import itertools
import time

import pytest

from app import fence
from pipeline import eventually


@pytest.fixture(scope="module")
def late(beside):
    """However soon previews leave, it is too late; when none do, no room has an interval any more."""
    with beside("--flush-late-ms", 0, "--flush-calm-ms", 300) as pipeline:
        yield pipeline


def told(app):
    return [data["intervalMs"] for data in app.named("room:throttle")]


def move(app, room, x):
    app.send("element:transforming", {"roomId": room, "elementId": "note-1", "transform": {}, "positionX": x})


def move_until(app, room, condition, within=20.0):
    """Moves the note at 60 a second until something has happened; where it was then."""
    end = time.monotonic() + within
    for x in itertools.count(1):
        if condition():
            return x - 1
        assert time.monotonic() < end, f"not within {within} s"
        move(app, room, x)
        time.sleep(1 / 60)


@pytest.fixture
def people(late, apps, room):
    """Two apps, one of 1.0, all in a room with a note."""
    ada, bob = apps(late.url, "ada"), apps(late.url, "bob")
    old = apps(late.url, "old", auth={"roomId": room})
    assert ada.join(room)["throttleMs"] == 16
    bob.join(room)
    answer = ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "note-1"}})
    bob.wait_seq(answer["seq"])
    old.wait("element:created")
    return ada, bob, old


def test_a_slowed_room_is_told_and_told_again_when_it_is_over(late, apps, room, people):
    ada, bob, old = people
    last = move_until(ada, room, lambda: 66 in told(bob))
    assert told(bob)[:2] == [33, 66]
    assert apps(late.url, "carol").join(room)["throttleMs"] > 16
    assert apps(late.url, "dora").join(room + "-quiet")["throttleMs"] == 16
    # The last value arrives, whatever the interval.
    bob.wait("element:transforming", lambda data: data["positionX"] == last)
    old.wait("element:transforming", lambda data: data["positionX"] == last)
    bob.wait("room:throttle", lambda data: data["intervalMs"] == 16, within=30)
    assert bob.named("room:throttle")[-1] == {"roomId": room, "intervalMs": 16}
    eventually("both were told the same", lambda: told(ada) == told(bob))
    assert told(old) == []
    assert apps(late.url, "emil").join(room)["throttleMs"] == 16

    def is_over():
        metrics = late.metrics("gateway")
        rooms = [value for name, value in metrics.items() if name.startswith("touchsync_gateway_slowed_rooms")]
        changes = metrics["touchsync_gateway_interval_changes_total"]
        return len(rooms) == 3 and not any(rooms) and changes >= len(told(bob))

    eventually("no room has an interval any more", is_over)


def test_a_slowed_room_gets_every_commit_and_no_preview_after_it(late, apps, room, people):
    ada, bob, _ = people
    last = move_until(ada, room, lambda: 200 in told(bob))
    # These wait, for a fifth of a second at most.
    for x in range(last + 1, last + 10):
        move(ada, room, x)
    done = ada.ok("element:transform", {"roomId": room, "elementId": "note-1", "positionX": 5})
    bob.wait_seq(done["seq"])
    bob.wait("room:throttle", lambda data: data["intervalMs"] == 16, within=30)
    fence(room, ada, bob)
    names = ("element:transforming", "element:transformed")
    seen = [event.name for event in bob.events if event.name in names and "fence" not in str(event.data)]
    assert seen[-1] == "element:transformed" and seen.count("element:transformed") == 1
