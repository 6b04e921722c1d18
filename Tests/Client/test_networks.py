"""What a phone lives through: its process is frozen, its network slow, dead without a word, or another one."""

import contextlib
import signal

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


@contextlib.contextmanager
def frozen(client):
    """A client whose process does nothing."""
    client.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        client.process.send_signal(signal.SIGCONT)


def present(client, room):
    return {member["userId"] for member in client.look(room)["members"]}


@pytest.mark.parametrize("missed", [3, 40], ids=["remembered", "forgotten"])
def test_a_frozen_app_catches_up(impatient, clients, room, missed):
    ada, bob = (clients(impatient.url, user).enter(room) for user in ("ada", "bob"))
    ada.edit(room, "create", note("a"))
    with frozen(ada):
        # Made when it wakes up, before it can know that its connection is gone.
        waiting = [ada.start("edit", room, "create", note(name)) for name in "bc"]
        eventually("the server gives it up", lambda: present(bob, room) == {"bob"})
        for result in push(bob, room, missed):
            result()
    assert [result()["seq"] for result in waiting] == [missed + 2, missed + 3]
    eventually("both agree", lambda: ada.positions(room) == bob.positions(room) == {"a": missed, "b": 0, "c": 0})
    last = impatient.assert_gapless(room)
    eventually("it is where the room is", lambda: ada.look(room)["seq"] == last)


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
