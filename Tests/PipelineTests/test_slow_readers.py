"""Apps that do not read: they cost nobody else anything, get the latest previews and find their way back."""

import json
import socket

import pytest
import websocket

from app import POLLING, UPDATES, App
from pipeline import eventually
from raw import Raw


class Sluggard:
    """A member on a bare WebSocket that reads only when it is told to, through a small window."""

    def __init__(self, url, user, room):
        self.numbers = 0
        self.socket = websocket.create_connection(
            url.replace("http", "ws") + "/socket.io/?EIO=4&transport=websocket", timeout=10,
            sockopt=((socket.SOL_SOCKET, socket.SO_RCVBUF, 4096),),
        )
        assert self.socket.recv().startswith("0{")
        self.socket.send("40" + json.dumps({"userId": user}))
        assert self.socket.recv().startswith("40{")
        self.room = room
        self.joined, _ = self.join()

    def join(self, **more):
        """Joins; the answer, and the events that came before it."""
        self.numbers += 1
        self.socket.send(f"42{self.numbers}" + json.dumps(["room:join", {"roomId": self.room, **more}]))
        events = []
        prefix = f"43{self.numbers}"
        while not (text := self.text()).startswith(prefix):
            events.append(json.loads(text[2:]))
        answer = json.loads(text[len(prefix):])[0]
        assert answer["ok"], answer
        return answer, events

    def text(self):
        """The next packet that is no ping."""
        while (text := self.socket.recv()) == "2":
            self.socket.send("3")
        return text

    def until(self, last):
        """Reads events up to the first for which `last` is true."""
        events = []
        while not events or not last(*events[-1]):
            text = self.text()
            if text.startswith("42["):
                events.append(json.loads(text[2:]))
        return events


@pytest.fixture
def slow(single, room, two):
    sluggard = Sluggard(single.url, "slow", room)
    yield sluggard
    sluggard.socket.close()


def fill(app, room, count):
    """Updates of 56 KB each; the number of the last."""
    for _ in range(count):
        notes = [{"type": "note", "content": "x" * 7_000} for _ in range(8)]
        answer = app.call("elements:create", {"roomId": room, "elements": notes})
        assert answer["ok"]
    return answer["seq"]


def test_one_that_does_not_read_joins_again_and_misses_nothing(single, room, two, note, slow):
    ada, bob = two
    last = fill(ada, room, 24)
    bob.wait_seq(last)
    # What waited, in order; then the word that its place is lost, and nothing numbered after it.
    events = slow.until(lambda name, data: name == "room:resync")
    numbers = [data["seq"] for name, data in events if name in UPDATES]
    resync = events[-1][1]
    assert numbers == list(range(slow.joined["seq"] + 1, resync["from"])) and len(numbers) < 25
    assert resync["roomId"] == room and resync["from"] <= resync["to"]
    answer, between = slow.join(resume={"epoch": slow.joined["epoch"], "seq": resync["from"] - 1})
    assert [name for name, _ in between if name in UPDATES] == []
    assert answer["seq"] == last
    if answer["recovered"]:
        assert [update["seq"] for update in answer["updates"]] == list(range(resync["from"], last + 1))
    else:
        assert len(answer["elements"]) == 1 + 24 * 8
    # And it is a member like any other again.
    done = ada.ok("element:update", {"roomId": room, "elementId": "note-1", "set": {"content": "short"}})
    assert slow.until(lambda name, data: name in UPDATES)[-1][1]["seq"] == done["seq"]
    assert single.metrics("gateway")["touchsync_gateway_slow_members_total"] >= 1


def test_an_app_of_the_first_contract_that_falls_behind_is_disconnected(single, room, two):
    ada, bob = two
    slow = Raw(single.url, f"&roomId={room}", '{"userId":"slow"}')
    bob.wait("member:joined", lambda data: data["userId"] == "slow")
    bob.forget()
    for _ in range(40):
        notes = [{"type": "note", "content": "x" * 7_000} for _ in range(30)]
        ada.ok("elements:create", {"roomId": room, "elements": notes})
        if bob.named("member:left"):
            break
    bob.wait("member:left", lambda data: data["userId"] == "slow")
    events = []
    with pytest.raises((websocket.WebSocketException, OSError)):
        while True:
            text = slow.socket.recv()
            if not text:
                raise websocket.WebSocketConnectionClosedException
            events.append(text[:20])
    assert any("element:created" in text for text in events)
    assert not any("room:resync" in text for text in events)
    slow.socket.close()


def test_a_leaver_with_many_gestures_closes_nobody(apps, single, room, two):
    """Each end comes with its element, and those of one leaver all at once: more than may wait for an app."""
    ada, bob = two
    ids = [f"element-{index}" for index in range(240)]
    for page in range(0, 240, 30):
        notes = [{"type": "note", "id": name, "content": "x" * 7_000} for name in ids[page:page + 30]]
        created = ada.ok("elements:create", {"roomId": room, "elements": notes})
        bob.wait_seq(created["seq"])
    reader = Sluggard(single.url, "reader", room)
    # It takes hardly any more previews: the last ones wait.
    last = fill(ada, room, 7)
    publisher = apps(single.url, "publisher")
    publisher.join(room)
    publisher.send("elements:gesturing", {
        "roomId": room, "elements": ids, "pivot": {"x": 0, "y": 0}, "translation": {"x": 5, "y": 0},
    })
    bob.wait("elements:transforming")
    publisher.leave(room)
    *_, (_, resync) = reader.until(lambda name, data: name == "room:resync")
    assert resync["from"] == last + 1
    answer, between = reader.join(resume={"epoch": reader.joined["epoch"], "seq": resync["from"] - 1})
    assert answer["seq"] == last and answer["updates"] == []
    assert not any(app.named("disconnect") for app in two)
    done = ada.call("element:update", {"roomId": room, "elementId": ids[0], "set": {"content": "short"}})
    *after, (_, update) = reader.until(lambda name, data: name in UPDATES)
    assert update["seq"] == done["seq"]
    # Once it is told that it missed something, nothing is shown of the gestures that ended.
    assert not any(name.endswith("transforming") for name, _ in between + after)
    reader.socket.close()


def move(app, room, x):
    app.send("element:transforming", {"roomId": room, "elementId": "note-1", "transform": {}, "positionX": x})


def positions(events):
    return [data["positionX"] for name, data in events if name == "element:transforming"]


def test_one_that_does_not_read_gets_the_latest_previews(room, two, note, slow):
    ada, bob = two
    # So much waits for it that it takes no more previews, and not so much that it loses its place.
    fill(ada, room, 7)
    for x in range(30):
        move(ada, room, x)
        bob.wait("element:transforming", lambda data: data["positionX"] == x)
    shown = positions(slow.until(lambda name, data: name == "element:transforming" and data["positionX"] == 29))
    # Folded, not queued.
    assert shown == sorted(shown) and len(shown) < 10


def test_one_that_does_not_read_gets_a_group_as_a_group(room, two, note, slow):
    ada, bob = two
    other = ada.ok("element:create", {"roomId": room, "element": {"type": "note"}})["element"]["id"]
    fill(ada, room, 7)
    for x in range(1, 31):
        ada.send("elements:gesturing", {
            "roomId": room, "elements": ["note-1", other], "pivot": {"x": 0, "y": 0}, "translation": {"x": x, "y": 0},
        })
        bob.wait("elements:transforming", lambda data: data["elements"][1]["positionX"] == x)
    events = slow.until(lambda name, data: name.endswith(":transforming") and data["elements"][1]["positionX"] == 30)
    shown = [data for name, data in events if name == "elements:transforming"]
    assert len(shown[-1]["elements"]) == 2 and len(shown) < 10
    # All of the app's previews are counted, whatever was folded.
    assert sum(data["n"] for data in shown) == 30


def test_a_group_that_is_more_than_may_wait_comes_in_parts(beside, room):
    """Previews alone close no app that reads."""
    with beside("--max-buffered-bytes", 65536) as pipeline:
        ada = App(pipeline.url, "ada").connect()
        bob = App(pipeline.url, "bob", transports=POLLING).connect()
        for app in (ada, bob):
            app.join(room)
        ids = [f"element-{index:03}-" + "x" * 80 for index in range(500)]
        for page in range(0, 500, 20):
            notes = [{"type": "note", "id": name} for name in ids[page:page + 20]]
            bob.wait_seq(ada.ok("elements:create", {"roomId": room, "elements": notes})["seq"])
        ada.send("elements:gesturing", {
            "roomId": room, "elements": ids, "pivot": {"x": 0, "y": 0}, "translation": {"x": 5, "y": 0},
        })

        def shown():
            return {element["elementId"] for data in bob.named("elements:transforming") for element in data["elements"]}

        eventually("all are shown moving", lambda: shown() == set(ids))
        assert bob.named("disconnect") == []
        for app in (ada, bob):
            app.close()
