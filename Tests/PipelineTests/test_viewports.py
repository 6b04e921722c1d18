"""What apps see that look at a part of the canvas."""

import pytest

from app import fence, previews_at
from test_previews import preview

VIEW = {"x": 0, "y": 0, "width": 1000, "height": 1000}


@pytest.fixture
def viewer(apps, single, room, note):
    """Carol, who looks at the first 1,000 pixels each way, with a margin of 100."""
    carol = apps(single.url, "carol")
    carol.join(room)
    carol.ok("viewport:set", {"roomId": room, **VIEW})
    return carol


def move(room, publisher, *witnesses, x):
    """Moves the note and waits until a member without a viewport has seen it."""
    publisher.send("element:transforming", preview(room, positionX=x, positionY=500))
    for witness in witnesses:
        witness.wait("element:transforming", where=lambda data: data.get("positionX") == x)


def seen(app):
    return [event.data["positionX"] for event in previews_at(app, "note-1")]


def test_previews_out_of_view_are_not_sent(room, two, viewer):
    ada, bob = two
    # Until the fan-out knows of the viewport, everything is sent.
    viewer.ok("client:ping", {})
    for x in (500, 5000, 6000, 7000, 1120, 8000, 9000):
        move(room, ada, bob, x=x)
    fence(room, bob, viewer)
    # The note is 100 pixels wide: at 1120 its left edge is within the margin.
    assert seen(viewer) == [500, 5000, 1120, 8000]
    assert seen(bob) == [500, 5000, 6000, 7000, 1120, 8000, 9000]


def test_a_viewport_that_moves_shows_what_moves_there(room, two, viewer):
    ada, bob = two
    move(room, ada, bob, x=500)
    move(room, ada, bob, x=5000)
    move(room, ada, bob, x=6000)
    fence(room, bob, viewer)
    viewer.ok("viewport:set", {
        "roomId": room, "zoomScale": 0.5, "offset": {"x": -2500, "y": 0}, "viewSize": {"width": 500, "height": 500},
        "canvasSize": {"width": 2000, "height": 1000}})
    viewer.wait("element:transforming", where=lambda data: data.get("positionX") == 6000)
    viewer.ok("viewport:set", {"roomId": room})
    move(room, ada, bob, viewer, x=20000)


def test_commits_come_from_everywhere(room, two, viewer):
    ada, _ = two
    done = ada.ok("element:transform", {"roomId": room, "elementId": "note-1", "positionX": 50000})
    assert viewer.wait_seq(done["seq"])
