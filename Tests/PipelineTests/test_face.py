"""Other back ends speak the same events over ZeroMQ."""

import json
import time

import pytest
import zmq

from shapes import JOINED, assert_element


class BackEnd:
    """A DEALER that speaks Socket.IO packets to a gateway's face."""

    def __init__(self, endpoint, user, **auth):
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.linger = 0
        self.socket.connect(endpoint)
        self.events = []
        self.number = 0
        self.socket.send_string("40" + json.dumps({"userId": user, **auth}))
        assert json.loads(self.take("40"))["sid"]

    def take(self, prefix, within=8.0):
        end = time.monotonic() + within
        while True:
            left = end - time.monotonic()
            assert left > 0 and self.socket.poll(left * 1000), f"no {prefix}… within {within} s: {self.events}"
            text = self.socket.recv_string()
            if text.startswith(prefix):
                return text[len(prefix) :]
            if text.startswith("42"):
                self.events.append(json.loads(text[2:]))

    def call(self, event, payload):
        self.number += 1
        self.socket.send_string(f"42{self.number}" + json.dumps([event, payload]))
        return json.loads(self.take(f"43{self.number}"))[0]

    def wait(self, name):
        for event in self.events:
            if event[0] == name:
                return event[1]
        while True:
            event = json.loads(self.take("42"))
            self.events.append(event)
            if event[0] == name:
                return event[1]


@pytest.fixture
def back_end(single, face):
    made = BackEnd(face, "robot")
    yield made
    made.socket.close()


def test_previews_come_together_if_it_asks_for_that(single, apps, room, face):
    back_end = BackEnd(face, "robot", batches=True)
    ada = apps(single.url, "ada")
    ada.join(room)
    assert back_end.call("room:join", {"roomId": room})["ok"]
    ada.ok("elements:create", {"roomId": room, "elements": [{"type": "note", "id": id} for id in "abc"]})

    def shown(x):
        events = [each for name, data in back_end.events for each in data.get("events", [[name, data]])]
        return {data["elementId"] for _, data in events if data.get("positionX") == x}

    # Which leave together depends on how the daemons come to run.
    for x in range(1, 300):
        for id in "abc":
            ada.send("element:transforming", {"roomId": room, "elementId": id, "positionX": x})
        while shown(x) != set("abc"):
            back_end.events.append(json.loads(back_end.take("42", within=30)))
        if any(name == "previews:batch" for name, _ in back_end.events):
            break
    batch = back_end.wait("previews:batch")["events"]
    assert len(batch) > 1 and {name for name, _ in batch} == {"element:transforming"}
    back_end.socket.close()


def test_the_same_events(single, apps, room, back_end):
    ada = apps(single.url, "ada")
    ada.join(room)
    joined = back_end.call("room:join", {"roomId": room})
    assert JOINED <= joined.keys() and joined["ok"] is True
    assert {member["userId"] for member in joined["members"]} == {"ada", "robot"}
    assert ada.wait("member:joined")["userId"] == "robot"

    answer = back_end.call("element:create", {"roomId": room, "n": 1, "element": {"type": "note", "id": "e"}})
    assert answer["ok"] is True and answer["seq"] == 1
    assert ada.wait("element:created")["userId"] == "robot"
    assert back_end.wait("element:created")["n"] == 1
    again = back_end.call("element:create", {"roomId": room, "n": 1, "element": {"type": "note", "id": "e"}})
    assert again["duplicate"] is True and again["seq"] == 1

    back_end.socket.send_string("42" + json.dumps(["element:transforming", {"roomId": room, "elementId": "e", "positionX": 4}]))
    assert ada.wait("element:transforming")["positionX"] == 4
    ada.send("element:transforming", {"roomId": room, "elementId": "e", "transform": {"rotation": 9}})
    assert back_end.wait("element:transforming")["transform"] == {"rotation": 9}
    ada.ok("element:transform", {"roomId": room, "elementId": "e", "positionX": 7})
    assert_element(back_end.wait("element:transformed")["element"], positionX=7)

    error = back_end.call("element:transform", {"roomId": room, "elementId": "nobody", "positionX": 1})
    assert error["ok"] is False and error["error"]["code"] == "not_found"
    assert back_end.call("element:nothing", {"roomId": room})["error"]["code"] == "unknown_event"
    back_end.socket.send_string("41")
    assert ada.wait("member:left")["userId"] == "robot"


def test_it_goes_on_with_a_session(single, room, face, back_end):
    joined = back_end.call("room:join", {"roomId": room})
    back_end.call("element:create", {"roomId": room, "n": 1, "element": {"type": "note", "id": "e"}})
    other = BackEnd(face, "robot")
    again = other.call("room:join", {"roomId": room, "session": joined["session"]})
    assert again["n"] == 1
    assert other.call("element:transform", {"roomId": room, "n": 2, "elementId": "e", "positionX": 1})["seq"] == 2
    assert back_end.call("element:transform", {"roomId": room, "n": 3, "elementId": "e", "positionX": 1})["error"][
        "code"
    ] == "session_expired"
    other.socket.close()


def test_signs_of_life(back_end):
    back_end.socket.send_string("2")
    assert back_end.take("3") == ""


def test_one_without_a_session_is_told_so(face):
    """A socket connects again by itself, to a gateway that was restarted for example, and its owner does not notice."""
    socket = zmq.Context.instance().socket(zmq.DEALER)
    socket.linger = 0
    socket.connect(face)
    socket.send_string("2")
    assert socket.poll(5000) and socket.recv_string() == "41"
    socket.close()


def test_too_many_unreadable_messages_end_the_session(back_end):
    for _ in range(11):
        back_end.socket.send_string("x")
    assert back_end.take("41") == ""


def test_bad_handshakes(face):
    socket = zmq.Context.instance().socket(zmq.DEALER)
    socket.linger = 0
    socket.connect(face)
    for text in ('40{"userId":5}', '40{"roomId":"no spaces"}'):
        socket.send_string(text)
        assert socket.poll(5000)
        answer = socket.recv_string()
        assert answer.startswith("44")
        assert json.loads(answer[2:])["data"]["code"] == "invalid"
    # Without a handshake nothing is answered but a refusal; whatever else comes hurts nobody.
    for text in ('42["room:join",{"roomId":"r"}]', "", "x", "40{", "451-[]", "42" + "[" * 10_000):
        socket.send_string(text)
    socket.send_multipart([b"a", b"b", b"c"])
    socket.send_string('40{"userId":"fine"}')
    while True:
        assert socket.poll(5000)
        if socket.recv_string().startswith('40{"sid"'):
            break
    socket.close()


def test_a_gateway_with_back_ends_stops_in_order(beside):
    with beside() as pipeline:
        made = BackEnd(f"ipc://{pipeline.data}/run/gateway-1.face.sock", "robot")
        assert pipeline.stop() == 0
        made.socket.close()
        log = (pipeline.data / "log" / "gateway-1.log").read_text()
        assert log.splitlines()[-1].endswith("daemon stopped"), log[-2000:]
