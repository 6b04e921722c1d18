"""What a phone lives through: its process is frozen, its network slow, dead without a word, or another one."""

import contextlib
import itertools
import time

import pytest

from conftest import KINDS
from network import network
from pipeline import eventually, running
from test_pipeline import note, push

# Apps that are silent are given up after 2 s, and a fan-out remembers few updates.
IMPATIENT = ("--ping-interval-ms", 1000, "--ping-timeout-ms", 1000, "--replay", 10)
# How many updates an app misses: fewer than the fan-out remembers, and more.
MISSED = [3, 40]


@pytest.fixture(scope="module")
def impatient():
    with running(*IMPATIENT) as pipeline:
        yield pipeline


def present(client, room):
    return {member["userId"] for member in client.look(room)["members"]}


@contextlib.contextmanager
def absent(ada, bob, room, missed):
    """Ada's process is frozen; the server gives it up, and bob goes on without it. Has what waits for the results of edits
    that ada was told to make as it woke up, before it could know of its connection."""
    with ada.frozen():
        waiting = [ada.start("edit", room, "create", note(name)) for name in "bc"]
        eventually("the server gives it up", lambda: present(bob, room) == {"bob"}, within=60)
        for result in push(bob, room, missed):
            result()
        yield waiting


def assert_caught_up(pipeline, ada, bob, room, missed, waiting):
    assert [result()["seq"] for result in waiting] == [missed + 2, missed + 3]
    eventually("both agree", lambda: ada.positions(room) == bob.positions(room) == {"a": missed, "b": 0, "c": 0})
    last = pipeline.assert_gapless(room)
    eventually("it is where the room is", lambda: ada.look(room)["seq"] == last)


@pytest.mark.parametrize("missed", MISSED, ids=["remembered", "forgotten"])
def test_a_frozen_app_catches_up(impatient, clients, room, missed):
    ada, bob = (clients(impatient.url, user).enter(room) for user in ("ada", "bob"))
    ada.edit(room, "create", note("a"))
    with absent(ada, bob, room, missed) as waiting:
        pass
    assert_caught_up(impatient, ada, bob, room, missed, waiting)


@pytest.mark.long("it takes a minute; make test has the same with a server that gives up sooner")
@pytest.mark.timeout(300)
def test_apps_that_were_frozen_for_a_minute_catch_up(impatient, clients_of, room):
    """All clients at the same time, each in a room of its own."""
    absences = []
    with contextlib.ExitStack() as ends:
        for kind, missed in itertools.product(KINDS, MISSED):
            place = f"{kind}.{missed}.{room}"
            # A browser is frozen whole: everybody has one.
            ada = clients_of(kind, impatient.url, f"ada-{missed}").enter(place)
            bob = clients_of("web", impatient.url, "bob").enter(place)
            ada.edit(place, "create", note("a"))
            waiting = ends.enter_context(absent(ada, bob, place, missed))
            absences.append((ada, bob, place, missed, waiting))
        time.sleep(60)
    for absence in absences:
        assert_caught_up(impatient, *absence)


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
