"""Whatever an app sends in one write, each request gets its one answer, and takes effect in its order."""

import json
import time

import pytest
import websocket

from pipeline import eventually


class Pipelining:
    """An app on a bare WebSocket that sends many events in one write and collects every packet."""

    def __init__(self, url, query="", **auth):
        self.socket = websocket.create_connection(
            url.replace("http", "ws") + "/socket.io/?EIO=4&transport=websocket" + query, timeout=12)
        assert self.socket.recv().startswith("0{")
        self.socket.send("40" + json.dumps(auth))
        assert self.socket.recv().startswith("40{")
        self.acks = 0
        self.events = []

    def send(self, *requests):
        """Writes all events together; each is (event, payload), and is to be answered unless a third member says no.
        The answers in the order of the requests, and the acknowledgements in the order in which they came."""
        frames, wanted = [], []
        for event, payload, *isAsked in requests:
            number = ""
            if isAsked != [False]:
                self.acks += 1
                number = self.acks
                wanted.append(number)
            text = f"42{number}" + json.dumps([event, payload])
            frames.append(websocket.ABNF.create_frame(text, websocket.ABNF.OPCODE_TEXT).format())
        self.socket.sock.sendall(b"".join(frames))
        return wanted

    def answers(self, *wanted):
        """Waits for these acknowledgements, each of which must come exactly once."""
        found = {}
        while len(found) < len(wanted):
            text = self.socket.recv()
            if text == "2":
                self.socket.send("3")
            elif text.startswith("43"):
                number, _, json_text = text[2:].partition("[")
                assert int(number) in wanted and int(number) not in found, text
                found[int(number)] = json.loads("[" + json_text)[0]
            elif text.startswith("42"):
                self.events.append(json.loads(text[2:]))
        return [found[number] for number in wanted]

    def ask(self, *requests):
        return self.answers(*self.send(*requests))

    def join(self, room, **more):
        return self.ask(("room:join", {"roomId": room, **more}))[0]


@pytest.fixture
def pipelining(single):
    made = []

    def make(user="ada", **auth):
        made.append(Pipelining(single.url, userId=user, **auth))
        return made[-1]

    yield make
    for app in made:
        app.socket.close()


def codes(answers):
    return ["ok" if answer["ok"] else answer["error"]["code"] for answer in answers]


def create(room, n=None):
    return ("element:create", {"roomId": room, "element": {"type": "note", "id": "e"}, **({"n": n} if n else {})})


def move(room, x, n=None):
    return ("element:transform", {"roomId": room, "elementId": "e", "positionX": x, **({"n": n} if n else {})})


def test_copies_in_flight_share_one_result(single, pipelining, room):
    app = pipelining()
    app.join(room)
    app.ask(create(room, 1))
    answers = app.ask(*[move(room, 5, 2)] * 5)
    assert [answer["seq"] for answer in answers] == [2] * 5
    many = app.ask(*[move(room, 6, 3)] * 40)
    assert set(codes(many)) <= {"ok", "busy"} and many[0]["seq"] == 3
    assert single.assert_gapless(room) == 3


def test_another_body_under_a_number_in_flight_is_a_conflict(pipelining, room):
    app = pipelining()
    app.join(room)
    app.ask(create(room, 1))
    first, second = app.ask(move(room, 10, 2), move(room, 11, 2))
    assert first["element"]["positionX"] == 10
    assert second["error"]["code"] == "conflict" and second["error"]["field"] == "n"


def test_a_takeover_leaves_no_commit_without_an_answer(single, pipelining, room):
    old, new = pipelining(), pipelining()
    session = old.join(room)["session"]
    old.ask(create(room, 1))
    numbers = range(2, 10)
    before = old.send(*[move(room, n, n) for n in numbers])
    assert new.join(room, session=session)["ok"]
    after = new.ask(*[move(room, n, n) for n in numbers])
    assert set(codes(after)) <= {"ok", "gap", "session_expired"}
    assert set(codes(old.answers(*before))) <= {"ok", "gap", "session_expired"}
    assert codes(old.ask(move(room, 2, 2))) == ["session_expired"]
    single.assert_gapless(room)


def test_joins_and_leaves_take_effect_in_their_order(pipelining, room):
    app = pipelining()
    join, leave = ("room:join", {"roomId": room}), ("room:leave", {"roomId": room})
    assert codes(app.ask(join, leave, join, create(room))) == ["ok"] * 4
    assert codes(app.ask(join, leave, create(room))) == ["ok", "ok", "forbidden"]
    assert codes(app.ask(leave, leave, join, leave, join, join)) == ["ok"] * 6
    assert codes(app.ask(move(room, 1))) == ["ok"]


def test_previews_during_a_join_leave_room_for_the_rest(pipelining, room):
    app = pipelining()
    preview = ("element:transforming", {"roomId": room, "elementId": "e", "positionX": 1}, False)
    requests = [("room:join", {"roomId": room}), *[preview] * 100, create(room), ("room:leave", {"roomId": room})]
    assert codes(app.ask(*requests)) == ["ok"] * 3


def test_commits_without_numbers_wait_for_their_turn(single, pipelining, room):
    app = pipelining()
    app.join(room)
    app.ask(create(room))
    answers = app.ask(*[move(room, x) for x in range(100)])
    assert [answer["element"]["positionX"] for answer in answers] == list(range(100))
    assert [answer["seq"] for answer in answers] == list(range(2, 102))
    flood = app.ask(*[move(room, x) for x in range(400)])
    assert set(codes(flood)) == {"ok", "busy"} and codes(flood).count("ok") >= 256
    single.assert_gapless(room)


def test_a_leave_overtakes_the_commits_that_the_rate_delays(single, pipelining, room):
    app = pipelining()
    app.join(room)
    app.ask(create(room), *[move(room, x) for x in range(119)])
    *delayed, leave = app.send(*[move(room, x) for x in range(20)], ("room:leave", {"roomId": room}))
    order = []
    while len(order) < 21:
        text = app.socket.recv()
        if text.startswith("43"):
            order.append(int(text[2:text.index("[")]))
    assert order.index(leave) < 15 and sorted(order) == [*delayed, leave]
    assert single.assert_gapless(room) == 140


def test_what_the_rate_delays_is_applied_though_its_app_leaves_and_comes_back(single, pipelining, room):
    app = pipelining()
    session = app.join(room)["session"]
    app.ask(create(room), *[move(room, x) for x in range(119)])
    back = ("room:join", {"roomId": room, "session": session})
    answers = app.ask(*[move(room, x) for x in range(20)], ("room:leave", {"roomId": room}), back, move(room, 99))
    assert codes(answers) == ["ok"] * 23
    assert single.assert_gapless(room) == 141


def test_what_the_rate_delays_is_applied_after_a_close(single, pipelining, room):
    app = pipelining()
    app.join(room)
    app.ask(create(room), *[move(room, x) for x in range(119)])
    app.send(*[move(room, x) for x in range(20)])
    app.socket.close()
    eventually("all are applied", lambda: len(single.log_rows(room)) == 140)


@pytest.mark.parametrize("numbered", [False, True], ids=["stamped", "numbered"])
def test_a_gesture_that_its_owner_continues_has_not_ended(single, apps, room, two, note, numbered):
    ada, bob = two
    owner = apps(single.url, "owner")
    session = owner.join(room)["session"]

    def show(app, x):
        gesture = {"gesture": 3} if numbered else {}
        app.send("element:transforming", {"roomId": room, "elementId": "note-1", "positionX": x, **gesture})

    show(owner, 1)
    bob.wait("element:transforming", lambda data: data["positionX"] == 1)
    owner.vanish()
    again = apps(single.url, "owner")
    again.join(room, session=session)
    began = time.monotonic()
    x = 1
    while time.monotonic() - began < 3.5:
        x += 1
        show(again, x)
        bob.wait("element:transforming", lambda data: data["positionX"] == x)
        time.sleep(0.1)
    assert bob.named("gesture:ended") == []
    # Two seconds of silence end it.
    again.vanish()
    ended = bob.wait("gesture:ended", within=6)
    assert ended["elementId"] == "note-1"


def test_an_app_of_the_first_contract_that_falls_behind_is_disconnected(single, room, two):
    ada, bob = two
    slow = Pipelining(single.url, query=f"&roomId={room}", userId="slow")
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
