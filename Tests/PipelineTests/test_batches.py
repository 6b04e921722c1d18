"""Previews that leave for one app at the same time, in one message."""

import pytest

from app import POLLING, WEBSOCKET, fence
from pipeline import eventually
from test_viewports import VIEW

IDS = [f"e{index}" for index in range(5)]


@pytest.fixture
def elements(room, two):
    ada, bob = two
    made = ada.ok("elements:create", {"roomId": room, "elements": [{"type": "note", "id": id} for id in IDS]})
    bob.wait_seq(made["seq"])


def move(publisher, room, x):
    """Moves all elements in one go."""
    for index, id in enumerate(IDS):
        publisher.send("element:transforming", {"roomId": room, "elementId": id, "positionX": 1000 * index + x})


def unpacked(app):
    """What it was shown, in its order, whether in batches or not."""
    events = []
    for event in app.events:
        if event.name == "previews:batch":
            assert len(event.data["events"]) > 1
            events += event.data["events"]
        elif event.name == "element:transforming":
            events.append([event.name, event.data])
    assert all(name == "element:transforming" for name, _ in events)
    return [data for _, data in events if data["elementId"] in IDS]


def until_batched(publisher, room, *viewers):
    """Moves until each viewer had a batch: which previews leave together depends on how the daemons come to run."""
    x = 0
    while not all(viewer.named("previews:batch") for viewer in viewers):
        x += 1
        assert x <= 300
        move(publisher, room, x)
        for viewer in viewers:
            eventually("the last is seen", lambda: any(data["positionX"] == x for data in unpacked(viewer)), within=30)
    return x


@pytest.mark.parametrize("transports", [WEBSOCKET, POLLING], ids=["websocket", "polling"])
def test_what_leaves_together_comes_in_one_message(single, apps, room, two, elements, transports):
    ada, bob = two
    carol = apps(single.url, "carol", auth={"batches": True}, transports=transports)
    tablet = apps(single.url, "ada", auth={"batches": True})
    for app in (carol, tablet):
        app.join(room)
    until_batched(ada, room, carol, tablet)
    # Everybody has the same, in the same order of each element; who did not ask gets no batches.
    fence(room, ada, bob, carol, tablet)
    for id in IDS:
        lists = [[data for data in unpacked(app) if data["elementId"] == id] for app in (bob, carol, tablet)]
        assert lists[0] == lists[1] == lists[2]
    assert bob.named("previews:batch") == []


def test_a_publisher_never_gets_its_own(single, apps, room, two, elements):
    ada, bob = two
    publishers = [apps(single.url, user, auth={"batches": True}) for user in ("carol", "dave")]
    for publisher in publishers:
        publisher.join(room)
    for x in range(1, 31):
        for publisher, id in zip(publishers, IDS):
            publisher.send("element:transforming", {"roomId": room, "elementId": id, "positionX": x})
        ada.send("element:transforming", {"roomId": room, "elementId": "e3", "positionX": x})
        eventually("all are seen", lambda: len({d["elementId"] for d in unpacked(bob) if d["positionX"] == x}) == 3, within=30)
    fence(room, ada, bob, *publishers)
    for publisher, its_own, other in zip(publishers, IDS, reversed(IDS[:2])):
        assert {data["elementId"] for data in unpacked(publisher)} == {other, "e3"}, its_own


def test_of_a_batch_only_what_is_in_view(single, apps, room, two, elements):
    ada, bob = two
    carol = apps(single.url, "carol", auth={"batches": True})
    carol.join(room)
    carol.ok("viewport:set", {"roomId": room, **VIEW, "width": 1500})
    x = until_batched(ada, room, carol)
    # All were shown until the viewport was known, and those that it sees last.
    move(ada, room, x + 1)
    eventually("the last is seen", lambda: any(data["positionX"] == 1000 + x + 1 for data in unpacked(carol)), within=30)
    fence(room, bob, carol)
    last = [data["elementId"] for data in unpacked(carol) if data["positionX"] % 1000 == x + 1]
    assert last == ["e0", "e1"]
