"""Leases, when they are switched on: nobody else moves an element while a finger is on it."""

import time

import pytest

from app import fence, previews_at
from conftest import SECRET
from pipeline import eventually

LEASE_MS = 1500


@pytest.fixture(scope="module")
def leased(beside):
    """Two gateways, as the two apps need not be at the same one."""
    with beside("--lease-ms", LEASE_MS, gateways=2) as pipeline:
        yield pipeline


@pytest.fixture
def three(leased, apps, room):
    """Ada and Ben, who move two notes, and Cid, who watches."""
    ada, ben, cid = apps(leased.urls[0], "ada"), apps(leased.urls[1], "ben"), apps(leased.urls[0], "cid")
    for app in (ada, ben, cid):
        app.session = app.join(room)["session"]
    for element in ("n", "m"):
        ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": element}})
    return ada, ben, cid


def move(app, room, element="n", x=1):
    app.send("element:transforming", {"roomId": room, "elementId": element, "positionX": x})


def commit(room, element="n", x=1, **more):
    return {"roomId": room, "elementId": element, "positionX": x, **more}


def hold(app, watcher, room, element="n"):
    """Moves an element until somebody else sees it."""
    move(app, room, element, 5)
    watcher.wait("element:transforming", lambda data: data["elementId"] == element and data["userId"] == app.user)


def test_previews_and_commits_of_others_are_not_accepted(leased, three, room):
    ada, ben, cid = three
    hold(ada, cid, room)
    cid.forget()
    before = leased.assert_gapless(room)
    dropped = 'touchsync_coalescer_previews_collapsed_total{how="leased"}'
    conflicts = "touchsync_coalescer_commits_conflicting_total"
    earlier = leased.metrics("coalescer")
    move(ben, room, x=77)
    eventually("it is counted", lambda: leased.metrics("coalescer")[dropped] == earlier[dropped] + 1)
    error = ben.refused("element:transform", commit(room, x=77), "conflict", "elementId")
    assert error["heldBy"] == "ada"
    error = ben.refused("element:gesture", {"roomId": room, "elementId": "n", "rotation": 5}, "conflict", "elementId")
    assert error["heldBy"] == "ada"
    fence(room, ben, cid)
    assert [event.data["userId"] for event in previews_at(cid, "n")] == []
    assert leased.assert_gapless(room) == before + 1
    # A commit that is resent counts again.
    eventually("both are counted", lambda: leased.metrics("coalescer")[conflicts] >= earlier[conflicts] + 2)
    # Another element, and what is no gesture, is free.
    ben.ok("element:transform", commit(room, "m"))
    ben.ok("element:update", {"roomId": room, "elementId": "n", "set": {"content": "by ben"}})
    ada.ok("element:transform", commit(room, x=6))


def test_the_holders_commit_ends_it(three, room):
    ada, ben, cid = three
    hold(ada, cid, room)
    ben.refused("element:transform", commit(room), "conflict")
    ada.ok("element:transform", commit(room, x=6))
    ben.ok("element:transform", commit(room, x=7))


def test_silence_ends_it(three, room):
    ada, ben, cid = three
    hold(ada, cid, room)
    eventually(
        "the lease has ended", lambda: ben.call("element:transform", commit(room, x=8))["ok"], within=LEASE_MS / 1000 + 5)


def test_a_leave_ends_it(three, room):
    """The gesture ends, and with it the lease, long before it would by silence."""
    ada, ben, cid = three
    hold(ada, cid, room)
    began = time.monotonic()
    ada.leave(room)
    cid.wait("gesture:ended", lambda data: data["elementId"] == "n")
    eventually("it is free", lambda: ben.call("element:transform", commit(room, x=8))["ok"], within=5, every=0.01)
    assert ben.ok("element:transform", commit(room, x=9))
    print(f"free after {time.monotonic() - began:.3f} s")


def test_a_group_with_a_held_element_is_refused_whole(leased, three, room):
    ada, ben, cid = three
    hold(ada, cid, room, "m")
    group = {"roomId": room, "elements": [{"elementId": "n", "positionX": 3}, {"elementId": "m", "positionX": 4}]}
    before = leased.log_rows(room)
    error = ben.refused("elements:transform", group, "conflict", "elements[1]")
    assert error["heldBy"] == "ada"
    gesture = {"roomId": room, "elements": ["m", "n"], "pivot": {"x": 0, "y": 0}, "rotation": 5}
    ben.refused("elements:gesture", gesture, "conflict", "elements[0]")
    assert leased.log_rows(room) == before


def test_the_refusal_is_remembered(leased, apps, three, room):
    """A repetition gets it again, although the element is free by then; the number is used up."""
    ada, ben, cid = three
    hold(ada, cid, room)
    first = ben.call("element:transform", commit(room, x=3, n=1))
    assert first["error"]["code"] == "conflict" and first["error"]["heldBy"] == "ada"
    ada.ok("element:transform", commit(room, x=6))
    again = apps(leased.urls[0], "ben")
    assert again.join(room, session=ben.session)["n"] == 1
    assert again.call("element:transform", commit(room, x=3, n=1)) == first
    again.refused("element:transform", commit(room, x=4, n=1), "conflict", "n")
    again.ok("element:transform", commit(room, x=3, n=2))


def test_a_repetition_of_an_applied_commit_gets_its_first_result(leased, apps, three, room):
    """Although somebody else moves the element by then."""
    ada, ben, cid = three
    first = ben.ok("element:transform", commit(room, x=3.2, n=1))
    assert first["adjusted"]
    hold(ada, cid, room)
    again = apps(leased.urls[0], "ben")
    again.join(room, session=ben.session)
    repeated = again.ok("element:transform", commit(room, x=3.2, n=1))
    assert repeated.pop("duplicate") is True
    assert repeated == first


def test_without_an_acknowledgement_the_holder_is_named_too(three, room):
    ada, ben, cid = three
    hold(ada, cid, room)
    ben.send("element:transform", commit(room))
    error = ben.wait("transform:error")
    assert error["code"] == "conflict" and error["heldBy"] == "ada" and error["elementId"] == "n"


@pytest.fixture(scope="module")
def guarded_leases(beside):
    """In token mode, so that people have different rights."""
    with beside("--lease-ms", LEASE_MS, environment={"TOUCHSYNC_JWT_SECRET": SECRET}) as pipeline:
        yield pipeline


@pytest.fixture
def enter(guarded_leases, apps, room):
    """Comes into the room with a right there."""

    def enter(user, right):
        app = apps(guarded_leases.url, auth={"token": guarded_leases.token(user, [room], right)})
        app.user = user
        app.join(room)
        return app

    return enter


def test_who_may_not_commit_keeps_nobody_off(guarded_leases, enter, room):
    ada, pia = enter("ada", "commit"), enter("pia", "preview")
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "n"}})
    hold(pia, ada, room)
    ada.ok("element:transform", commit(room, x=2))
    hold(ada, pia, room)
    dropped = 'touchsync_coalescer_previews_collapsed_total{how="leased"}'
    earlier = guarded_leases.metrics("coalescer")[dropped]
    move(pia, room, x=77)
    eventually("it is dropped", lambda: guarded_leases.metrics("coalescer")[dropped] == earlier + 1)


def test_who_loses_the_right_keeps_nobody_off(guarded_leases, enter, room):
    ada, ben = enter("ada", "commit"), enter("ben", "commit")
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "n"}})
    lesser = guarded_leases.token("ben", [room], "preview")
    hold(ben, ada, room)
    ada.refused("element:transform", commit(room, x=4), "conflict", "elementId")
    ben.ok("auth:refresh", {"token": lesser})
    move(ben, room, x=9)
    ada.wait("element:transforming", lambda data: data["userId"] == "ben" and data["positionX"] == 9)
    ada.ok("element:transform", commit(room, x=4))


def test_they_are_off_by_default(single, apps, room):
    ada, ben = apps(single.url, "ada"), apps(single.url, "ben")
    ada.join(room)
    ben.join(room)
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "n"}})
    hold(ada, ben, room)
    ben.ok("element:transform", commit(room))
    hold(ben, ada, room)
