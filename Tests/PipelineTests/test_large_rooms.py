"""Large rooms over slow links: they can be joined while others go on changing them."""

import json
import socket
import threading
import time

import pytest
import requests
import websocket

from app import UPDATES
from pipeline import eventually


class ThrottledSocket:
    """A socket that reads a number of bytes a second, through a small window."""

    def __init__(self, url, rate):
        host, port = url.removeprefix("http://").split(":")
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        self.socket.settimeout(20)
        self.socket.connect((host, int(port)))
        self.rate = rate

    def recv(self, count):
        data = self.socket.recv(min(count, 65536))
        time.sleep(len(data) / self.rate)
        return data

    def __getattr__(self, name):
        return getattr(self.socket, name)


class SlowReader:
    """An app on a bare WebSocket that follows a room as the contract says."""

    def __init__(self, url, room, rate):
        throttled = ThrottledSocket(url, rate)
        self.socket = websocket.create_connection(
            url.replace("http", "ws") + "/socket.io/?EIO=4&transport=websocket", socket=throttled)
        assert self.socket.recv().startswith("0{")
        self.socket.send("40" + json.dumps({"userId": "slow"}))
        assert self.socket.recv().startswith("40{")
        self.room = room
        self.acks = 0
        self.resyncs = 0
        self.elements = {}

    def text(self):
        while (text := self.socket.recv()) == "2":
            self.socket.send("3")
        assert text, "the connection was closed"
        return text

    def ask(self, event, payload):
        """The answer; no event of the room comes before a join's."""
        self.acks += 1
        self.socket.send(f"42{self.acks}" + json.dumps([event, payload]))
        prefix = f"43{self.acks}"
        while not (text := self.text()).startswith(prefix):
            assert json.loads(text[2:])[0] not in UPDATES
        return json.loads(text[len(prefix):])[0]

    def join(self, **more):
        answer = self.ask("room:join", {"roomId": self.room, **more})
        assert answer["ok"], answer
        self.epoch, self.seq = answer["epoch"], answer["seq"]
        if answer["recovered"]:
            for update in answer["updates"]:
                self.elements[update["data"]["element"]["id"]] = update["data"]["element"]
        elif "parts" in answer:
            assert answer["elements"] == []
            for part in range(answer["parts"]):
                name, data = self.event()
                while name != "room:elements":
                    assert name not in UPDATES
                    name, data = self.event()
                assert (data["part"], data["parts"]) == (part + 1, answer["parts"])
                self.add(data["elements"])
        else:
            self.add(answer["elements"])
        return answer

    def add(self, elements):
        self.elements.update((element["id"], element) for element in elements)

    def event(self):
        return json.loads(self.text()[2:])

    def follow(self, seq):
        """Follows the room up to a number, joining again when its place is lost."""
        while self.seq < seq:
            name, data = self.event()
            if name == "room:resync":
                assert data["from"] == self.seq + 1
                self.resyncs += 1
                self.join(resume={"epoch": self.epoch, "seq": self.seq})
            elif name in UPDATES:
                assert data["seq"] == self.seq + 1
                self.seq = data["seq"]
                self.elements[data["element"]["id"]] = data["element"]


@pytest.fixture
def large(single, apps, room):
    """A room of 8 MB, and its writer."""
    writer = apps(single.url, "writer")
    writer.join(room)
    for start in range(0, 1120, 32):
        notes = [{"type": "note", "id": f"e{start + index}", "content": "x" * 7000} for index in range(32)]
        writer.ok("elements:create", {"roomId": room, "elements": notes})
    return writer


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize("rate", [pytest.param(1_000_000, marks=pytest.mark.long), 2_000_000])
def test_a_large_room_is_joined_over_a_slow_link_while_it_changes(single, room, large, parts, rate):
    reader = SlowReader(single.url, room, rate)
    is_over = threading.Event()

    def write():
        count = 0
        while not is_over.wait(0.2):
            count += 1
            large.ok("element:transform", {"roomId": room, "elementId": "e7", "positionX": count})

    writing = threading.Thread(target=write)
    writing.start()
    try:
        answer = reader.join(parts=parts)
        assert ("parts" in answer) == parts
        assert len(reader.elements) == 1120
        time.sleep(1)
    finally:
        is_over.set()
        writing.join()
    done = large.ok("element:transform", {"roomId": room, "elementId": "e8", "positionX": 5})
    reader.follow(done["seq"])
    current = requests.get(f"{single.url}/api/rooms/{room}", timeout=10).json()
    assert reader.elements == {element["id"]: element for element in current["elements"]}
    assert reader.resyncs <= 3
    eventually("all is read", lambda: single.metrics("gateway")["touchsync_gateway_answer_bytes"] == 0)
    reader.socket.close()
