"""Joining, leaving, sessions, what was missed, and who is there."""

import time

import pytest

from app import POLLING, WEBSOCKET, fence
from shapes import JOINED, assert_element


@pytest.mark.parametrize("transports", [WEBSOCKET, POLLING], ids=["websocket", "polling"])
def test_joining_a_room_that_was_never_used(single, apps, room, transports):
    app = apps(single.url, "ada", name="Ada", transports=transports)
    answer = app.join(room)
    assert JOINED <= answer.keys(), JOINED - answer.keys()
    assert answer["roomId"] == room and answer["seq"] == 0 and answer["n"] == 0
    assert answer["recovered"] is False and answer["elements"] == [] and "updates" not in answer
    assert isinstance(answer["epoch"], str) and answer["epoch"]
    assert isinstance(answer["session"], str) and answer["session"] != answer["sid"]
    assert answer["throttleMs"] == 16
    assert [member["userId"] for member in answer["members"]] == ["ada"]
    assert {"userId", "name", "color"} <= answer["members"][0].keys()
    assert answer["limits"]["replay"] == 1000


def test_sessions_differ_between_rooms_and_users(single, apps, room):
    ada, bob = apps(single.url, "ada"), apps(single.url, "bob")
    answers = [ada.join(room), ada.join(room + "-b"), bob.join(room)]
    assert len({answer["session"] for answer in answers}) == 3
    assert len({answer["sid"] for answer in answers}) == 3
    assert all(answer["sid"].split(".")[0] != answer["session"] for answer in answers)
    assert len({answer["epoch"] for answer in answers}) == 1


def test_joining_twice_and_leaving_when_not_in_are_fine(single, apps, room):
    app = apps(single.url, "ada")
    app.leave(room)
    first = app.join(room)
    app.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "e"}})
    again = app.join(room)
    assert again["seq"] == 1 and [element["id"] for element in again["elements"]] == ["e"]
    assert again["epoch"] == first["epoch"]
    app.leave(room)
    app.leave(room)
    app.refused("element:create", {"roomId": room, "element": {"type": "note"}}, "forbidden")


def test_after_leaving_nothing_comes(two, room, note):
    ada, bob = two
    bob.leave(room)
    bob.forget()
    ada.send("element:transforming", {"roomId": room, "elementId": note["id"], "positionX": 3})
    seq = ada.ok("element:transform", {"roomId": room, "elementId": note["id"], "positionX": 3})["seq"]
    ada.wait_seq(seq)
    # What would have come is ahead of the answer to a join.
    bob.join(room)
    assert [event.name for event in bob.events] == []


def test_a_late_joiner_sees_the_state(two, apps, single, room, note):
    ada, _ = two
    ada.ok("element:transform", {"roomId": room, "elementId": "note-1", "positionX": 33.4, "transform": {"rotation": -90}})
    ada.ok("element:create", {"roomId": room, "element": {"type": "photo", "id": "p", "width": 400, "height": 300}})
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "gone"}})
    ada.ok("element:delete", {"roomId": room, "elementId": "gone"})
    late = apps(single.url, "late").join(room)
    elements = {element["id"]: element for element in late["elements"]}
    assert late["seq"] == 5 and set(elements) == {"note-1", "p"}
    assert_element(elements["note-1"], positionX=33, rotation=270, rev=2)
    assert_element(elements["p"], width=400, originalWidth=400, height=300)


def test_nothing_comes_twice_around_the_answer_to_a_join(single, apps, room):
    """While somebody commits all the time, joiners get a snapshot and exactly what follows it."""
    ada = apps(single.url, "ada")
    ada.join(room)
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "e"}})
    running = [
        ada.start("element:transform", {"roomId": room, "elementId": "e", "positionX": step, "n": step})
        for step in range(1, 26)
    ]
    joiners = [apps(single.url, f"joiner-{index}") for index in range(5)]
    answers = [joiner.join(room) for joiner in joiners]
    last = max(future.result(20)["seq"] for future in running)
    for joiner, answer in zip(joiners, answers):
        if answer["seq"] < last:
            joiner.wait_seq(last)
        seqs = [seq for seq, _ in joiner.updates(room)]
        assert seqs == list(range(answer["seq"] + 1, last + 1)), (answer["seq"], seqs)


def test_an_app_that_was_away_gets_exactly_what_it_missed(single, apps, room):
    ada, bob = apps(single.url, "ada"), apps(single.url, "bob")
    ada.join(room)
    before = bob.join(room)
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "e"}})
    bob.wait_seq(1)
    bob.close()

    ada.forget()
    ada.ok("element:transform", {"roomId": room, "elementId": "e", "positionX": 7, "transform": {"rotation": 20}})
    ada.ok("element:update", {"roomId": room, "elementId": "e", "set": {"content": "hello"}})
    ada.ok("elements:create", {"roomId": room, "elements": [{"type": "note", "id": "f"}, {"type": "text", "id": "g"}]})
    ada.ok("element:delete", {"roomId": room, "elementId": "f"})
    ada.ok("element:create", {"roomId": room, "element": {"type": "audio", "id": "h"}})
    ada.wait_seq(6)

    back = apps(single.url, "bob")
    answer = back.join(room, resume={"epoch": before["epoch"], "seq": 1})
    assert answer["recovered"] is True and answer["seq"] == 6 and "elements" not in answer
    assert [entry["seq"] for entry in answer["updates"]] == [2, 3, 4, 5, 6]
    live = ada.updates(room)
    assert [(entry["event"], entry["data"]) for entry in answer["updates"]] == [
        (event.name, event.data) for _, event in live
    ]
    # Nothing missed: an empty list.
    again = back.join(room, resume={"epoch": before["epoch"], "seq": 6})
    assert again["recovered"] is True and again["updates"] == []


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "äö", "a/b", "a\nb", None, 5, [], {}])
@pytest.mark.parametrize("event", ["room:join", "room:leave", "element:create"])
def test_a_bad_room_id_is_refused(single, apps, name, event):
    apps(single.url, "ada").refused(event, {"roomId": name}, "invalid", "roomId")


def test_every_character_of_a_room_id(single, apps):
    app = apps(single.url, "ada")
    room = "AZaz09_.:-"
    assert app.join(room)["roomId"] == room
    assert app.join("y" * 64)["roomId"] == "y" * 64


def test_a_session_goes_on_over_connections(single, apps, room):
    first = apps(single.url, "ada")
    joined = first.join(room)
    created = first.ok("element:create", {"roomId": room, "n": 1, "element": {"type": "note", "id": "e"}})
    first.ok("element:transform", {"roomId": room, "n": 2, "elementId": "e", "positionX": 1})
    first.close()
    second = apps(single.url, "ada")
    again = second.join(room, session=joined["session"])
    assert again["n"] == 2 and again["sid"] == joined["sid"] and again["session"] == joined["session"]
    # What may not have been answered is sent again and found.
    repeated = second.ok("element:create", {"roomId": room, "n": 1, "element": {"type": "note", "id": "e"}})
    assert repeated["duplicate"] is True and repeated["seq"] == created["seq"]
    assert second.ok("element:transform", {"roomId": room, "n": 3, "elementId": "e", "positionX": 2})["seq"] == 3


def test_a_session_that_was_taken_over(single, apps, room):
    old = apps(single.url, "ada")
    joined = old.join(room)
    bob = apps(single.url, "bob")
    bob.join(room)
    old.ok("element:create", {"roomId": room, "n": 1, "element": {"type": "note", "id": "e"}})
    new = apps(single.url, "ada")
    assert new.join(room, session=joined["session"])["n"] == 1
    old.refused("element:transform", {"roomId": room, "n": 2, "elementId": "e", "positionX": 1}, "session_expired")
    # Of its previews one a second is answered, so that an app whose session was taken by mistake finds out.
    for _ in range(3):
        old.send("element:transforming", {"roomId": room, "elementId": "e", "positionX": 99})
    old.refused("selection:set", {"roomId": room, "elementIds": ["e"]}, "session_expired")
    [error] = old.named("transform:error")
    assert (error["event"], error["code"], error["elementId"]) == ("element:transforming", "session_expired", "e")
    assert new.ok("element:transform", {"roomId": room, "n": 2, "elementId": "e", "positionX": 2})["seq"] == 2
    fence(room, new, bob)
    assert [p for p in bob.named("element:transforming") if p.get("positionX") == 99] == []


def test_sessions_that_are_not_ones(single, apps, room):
    ada, bob = apps(single.url, "ada"), apps(single.url, "bob")
    session = ada.join(room)["session"]
    other = ada.join(room + "-b")["session"]
    for app, wrong in [(bob, session), (ada, other), (ada, "nonsense"), (ada, session[:-1]), (ada, session + "x")]:
        app.refused("room:join", {"roomId": room, "session": wrong}, "session_expired")
    sid = ada.join(room)["sid"]
    bob.refused("room:join", {"roomId": room, "session": sid}, "session_expired")


def test_members_come_and_go_by_user(single, apps, room):
    ada = apps(single.url, "ada", name="Ada")
    ada.join(room)
    bob = apps(single.url, "bob", name="Bob", auth={"color": "#0a0"})
    assert {member["userId"] for member in bob.join(room)["members"]} == {"ada", "bob"}
    came = ada.wait("member:joined")
    assert came["roomId"] == room and came["userId"] == "bob" and came["name"] == "Bob" and came["color"] == "#0a0"

    # A second device of Bob is no news, neither coming nor going; nor does anybody hear of himself.
    phone = apps(single.url, "bob", name="Bob")
    phone.join(room)
    phone.close()
    carol = apps(single.url, "carol")
    carol.join(room)
    for app in (ada, bob):
        app.wait("member:joined", lambda member: member["userId"] == "carol")
    bob.close()
    left = ada.wait("member:left")
    assert left["roomId"] == room and left["userId"] == "bob" and left["name"] == "Bob"
    assert [member["userId"] for member in ada.named("member:joined")] == ["bob", "carol"]
    assert [member["userId"] for member in ada.named("member:left")] == ["bob"]
    assert [member["userId"] for member in bob.named("member:joined")] == ["carol"]
    assert carol.named("member:joined") == []
    carol.leave(room)
    ada.wait("member:left", lambda member: member["userId"] == "carol")


def test_as_many_rooms_as_allowed(single, apps, room):
    app = apps(single.url, "ada")
    allowed = app.join(f"{room}-0")["limits"].get("rooms", 64)
    assert allowed == 64
    for index in range(1, allowed):
        app.join(f"{room}-{index}")
    app.refused("room:join", {"roomId": f"{room}-more"}, "too_large")
    app.ok("room:leave", {"roomId": f"{room}-0"})
    app.join(f"{room}-more")


def test_rooms_are_apart(single, apps, room):
    """Not even a room whose name begins with another's hears of it."""
    ada, bob = apps(single.url, "ada"), apps(single.url, "bob")
    ada.join(room)
    ada.join(room + "1")
    bob.join(room + "1")
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "e"}})
    ada.ok("element:create", {"roomId": room + "1", "element": {"type": "note", "id": "e"}})
    bob.wait("element:created")
    assert {event.data["roomId"] for event in bob.events if event.data and "roomId" in event.data} == {room + "1"}


def test_an_app_may_ask_whether_its_connection_lives(single, apps):
    app = apps(single.url, "ada")
    assert app.ok("client:ping", {}).keys() == {"ok", "time"}
    app.ok("client:ping", {})
    error = app.call("client:ping", {})["error"]
    assert error["code"] == "rate_limited" and 0 < error["retryAfterMs"] <= 500
    time.sleep(error["retryAfterMs"] / 1000)
    app.ok("client:ping", {})
