"""What a phone lives through: its process is frozen, its network slow, dead without a word, or another one."""

import time

import pytest

from network import network
from pipeline import eventually, running
from test_pipeline import note, push

# Apps that are silent are given up after 2 s, and a fan-out remembers few updates.
IMPATIENT = ("--ping-interval-ms", 1000, "--ping-timeout-ms", 1000, "--replay", 10)


@pytest.fixture(scope="module")
def impatient():
    with running(*IMPATIENT) as pipeline:
        yield pipeline


def present(client, room):
    return {member["userId"] for member in client.look(room)["members"]}


def misses(ada, bob, room, times, seconds=0):
    """Ada's process is frozen until the server has given it up, and for so many seconds; bob goes on without it. Returns
    what waits for the results of edits that it was told to make as it woke up, before it could know of its connection."""
    ada.edit(room, "create", note("a"))
    end = time.monotonic() + seconds
    with ada.frozen():
        waiting = [ada.start("edit", room, "create", note(name)) for name in "bc"]
        eventually("the server gives it up", lambda: present(bob, room) == {"bob"}, within=60)
        for result in push(bob, room, times):
            result()
        time.sleep(max(end - time.monotonic(), 0))
    return waiting


def catches_up(pipeline, clients, room, times, seconds=0):
    ada, bob = (clients(pipeline.url, user).enter(room) for user in ("ada", "bob"))
    waiting = misses(ada, bob, room, times, seconds)
    assert [result()["seq"] for result in waiting] == [times + 2, times + 3]
    eventually("both agree", lambda: ada.positions(room) == bob.positions(room) == {"a": times, "b": 0, "c": 0})
    last = pipeline.assert_gapless(room)
    eventually("it is where the room is", lambda: ada.look(room)["seq"] == last)


@pytest.mark.parametrize("missed", [3, 40], ids=["remembered", "forgotten"])
def test_a_frozen_app_catches_up(impatient, clients, room, missed):
    catches_up(impatient, clients, room, missed)


@pytest.mark.long("it takes a minute; make test has the same with a server that gives up sooner")
@pytest.mark.parametrize("missed", [3, 40], ids=["remembered", "forgotten"])
def test_an_app_that_was_frozen_for_a_minute_catches_up(impatient, clients, room, missed):
    catches_up(impatient, clients, room, missed, seconds=60)


def test_a_connection_that_looks_open_is_noticed(single, clients, room):
    with network(single.url) as between:
        ada, bob = clients(between.url, "ada").enter(room), clients(single.url, "bob").enter(room)
        ada.edit(room, "create", note("a"))
        between.vanish()
        # Pings of the server would tell of it after half a minute.
        assert [result(within=15)["seq"] for result in push(ada, room, 3)] == [2, 3, 4]
        eventually("bob sees it", lambda: bob.positions(room) == {"a": 3})


def test_another_network_is_the_same_user(single, clients, room):
    with network(single.url) as between:
        ada, bob = clients(between.url, "ada").enter(room), clients(single.url, "bob").enter(room)
        ada.edit(room, "create", note("a"))
        for device in ("127.0.0.2", "127.0.0.3"):
            between.device = device
            between.vanish()
            for result in push(ada, room, 5):
                result(within=15)
        eventually("both agree", lambda: ada.positions(room) == bob.positions(room) == {"a": 10})
        assert single.assert_gapless(room) == 11


def test_a_slow_network_brings_a_large_room(single, clients, room):
    bob = clients(single.url, "bob").enter(room)
    for start in range(0, 600, 100):
        bob.edit(room, "createAll", [{**note(f"n{index}"), "text": "x" * 500} for index in range(start, start + 100)])
    with network(single.url) as between:
        between.bytes_per_second = 200_000
        ada = clients(between.url, "ada").enter(room)
        assert ada.look(room)["elements"] == bob.look(room)["elements"]
        ada.edit(room, "transform", "n7", {"positionX": 5})
        eventually("bob sees it", lambda: bob.positions(room)["n7"] == 5)
