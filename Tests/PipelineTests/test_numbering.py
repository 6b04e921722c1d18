"""Commits by number: once each, in order, with the first result for ever."""

import pytest

from app import POLLING, WEBSOCKET


@pytest.fixture(params=[WEBSOCKET, POLLING], ids=["websocket", "polling"])
def ada(single, apps, room, request):
    app = apps(single.url, "ada", transports=request.param)
    app.join(room)
    return app


@pytest.fixture
def note(ada, room):
    return ada.ok("element:create", {"roomId": room, "n": 1, "element": {"type": "note", "id": "e"}})


def move(room, n, x, **more):
    return {"roomId": room, "elementId": "e", "positionX": x, "n": n, **more}


def test_the_number_comes_back_to_everybody(single, apps, ada, room, note):
    bob = apps(single.url, "bob")
    bob.join(room)
    assert ada.wait("element:created")["n"] == 1
    answer = ada.ok("element:transform", move(room, 2, 5, gesture=9))
    for app in (ada, bob):
        update = app.wait("element:transformed")
        assert update["n"] == 2 and update["gesture"] == 9 and update["seq"] == answer["seq"] == 2
        assert update["element"] == answer["element"]


def test_a_repetition_gets_the_first_result(ada, room, note):
    first = ada.ok("element:transform", move(room, 2, 5.5))
    ada.ok("element:transform", move(room, 3, 9))
    for _ in range(2):
        again = ada.ok("element:transform", move(room, 2, 5.5))
        assert again["duplicate"] is True and again["seq"] == first["seq"] == 2
        assert again["element"]["positionX"] == 6
    created = ada.ok("element:create", {"roomId": room, "n": 1, "element": {"type": "note", "id": "e"}})
    assert created["duplicate"] is True and created["seq"] == 1 and created["element"]["rev"] == 1
    assert "duplicate" not in first
    # Fields that nobody knows do not make another body.
    assert ada.ok("element:transform", move(room, 2, 5.5, whatever=1))["duplicate"] is True
    assert ada.ok("element:transform", move(room, 4, 10))["seq"] == 4


def test_whole_numbers_may_have_a_fraction_of_zero(single, apps, raw, room):
    def say(payload, ack):
        return raw.ask(f'["element:transform",{{"roomId":"{room}","elementId":"e","positionX":{payload}}}]', ack)

    joined = raw.ask(f'["room:join",{{"roomId":"{room}"}}]', 11)
    raw.ask(f'["element:create",{{"roomId":"{room}","element":{{"type":"note","id":"e"}},"n":1.0}}]', 12)
    assert say('5.0,"n":2.00,"gesture":7.0', 13)["seq"] == 2
    # Another spelling of a number is no other body.
    assert say('5,"n":2,"gesture":7', 14)["duplicate"] is True
    assert say('6,"n":0.3e1', 15)["seq"] == 3
    again = raw.ask(
        f'["room:join",{{"roomId":"{room}","session":"{joined["session"]}",'
        f'"resume":{{"epoch":"{joined["epoch"]}","seq":1.0}}}}]', 16)
    assert again["recovered"] is True and [update["seq"] for update in again["updates"]] == [2, 3]
    assert again["n"] == 3


@pytest.mark.parametrize(
    "event, payload, code",
    [
        ("element:transform", {"elementId": "nobody", "positionX": 1}, "not_found"),
        ("element:transform", {"elementId": "e", "transform": {"rotation": "x"}}, "invalid"),
        ("element:transform", {"elementId": "e"}, "invalid"),
        ("element:create", {"element": {"type": "note", "id": "e"}}, "conflict"),
        ("element:create", {"element": {}}, "invalid"),
        ("element:update", {"elementId": "e", "set": {"id": "f"}}, "invalid"),
        ("element:update", {"elementId": "e", "set": {"x": "y" * 9000}}, "too_large"),
        ("elements:create", {"elements": [{"type": "note"}] * 501}, "too_large"),
    ],
)
def test_a_final_refusal_uses_its_number_up_and_is_remembered(ada, room, note, event, payload, code):
    payload = {"roomId": room, "n": 2, **payload}
    first = ada.refused(event, payload, code)
    again = ada.refused(event, payload, code)
    assert again.get("field") == first.get("field")
    ada.refused("element:transform", move(room, 2, 77), "conflict", "n")
    assert ada.ok("element:transform", move(room, 3, 5))["seq"] == 2


def test_a_window_of_commits(ada, room, note):
    """Thirty at once, none waiting for another's answer: applied in their order."""
    running = [ada.start("element:transform", move(room, n, n)) for n in range(2, 32)]
    answers = [future.result(20) for future in running]
    assert [answer.get("seq") for answer in answers] == list(range(2, 32)), answers
    ada.wait_seq(31)
    updates = ada.updates(room)
    assert [seq for seq, _ in updates] == list(range(1, 32))
    assert [event.data["n"] for _, event in updates] == list(range(1, 32))


def test_the_numbers_of_a_session_without_numbers(ada, room, note):
    """Commits without a number have a stream of their own, and come in the order in which they were sent."""
    ada.ok("element:transform", {"roomId": room, "elementId": "e", "positionX": 3})
    assert ada.ok("element:transform", move(room, 2, 5))["seq"] == 3
    running = [ada.start("element:transform", {"roomId": room, "elementId": "e", "positionX": x}) for x in range(20)]
    answers = [future.result(20) for future in running]
    assert [answer["seq"] for answer in answers] == list(range(4, 24))
    assert [answer["element"]["positionX"] for answer in answers] == list(range(20))


def test_the_rate_of_commits(single, apps, room):
    """Over the rate a numbered commit is refused with the time to wait; one without a number only waits."""
    app = apps(single.url, "ada")
    app.join(room)
    app.ok("element:create", {"roomId": room, "n": 1, "element": {"type": "note", "id": "e"}})
    n, error = 2, None
    while error is None and n < 400:
        wave = [(k, app.start("element:transform", move(room, k, k))) for k in range(n, n + 20)]
        answers = [(k, future.result(20)) for k, future in wave]
        done = [k for k, answer in answers if answer["ok"]]
        n = max(done, default=n - 1) + 1
        codes = {answer["error"]["code"]: answer["error"] for _, answer in answers if not answer["ok"]}
        assert set(codes) <= {"rate_limited", "gap"}, codes
        error = codes.get("rate_limited")
    assert error and error["retryAfterMs"] > 0
    # Now the bucket is empty: these wait for it, and all are applied.
    waiting = [app.start("element:transform", {"roomId": room, "elementId": "e", "positionX": x}) for x in range(10)]
    answers = [future.result(20) for future in waiting]
    assert [answer["ok"] for answer in answers] == [True] * 10
    assert [answer["element"]["positionX"] for answer in answers] == list(range(10))
    single.assert_gapless(room)
