"""Daemons are killed under load: they come back, apps keep or regain their rooms, and nothing acknowledged is lost."""

import json
import os
import signal

import pytest
import requests

from app import App
from pipeline import eventually, running
from survival import Crowd

STAGES = ["gateway", "coalescer", "committer", "fanout"]


@pytest.fixture(scope="module")
def alone():
    """One of each, to be killed."""
    with running("--commits-per-second", 100000, "--commit-burst", 100000) as pipeline:
        yield pipeline


def progress(crowd, more, within=30.0):
    """Waits until the crowd has got so many more acknowledgements."""
    goal = crowd.count + more
    eventually(f"{more} more acknowledgements", lambda: crowd.count >= goal, within=within)


@pytest.mark.parametrize("stage", STAGES)
def test_one_of_one_is_killed_under_load(alone, room, stage):
    with Crowd(alone, room) as crowd:
        progress(crowd, 60)
        victim = alone.kill(stage)
        alone.wait_restarted(victim)
        progress(crowd, 60)
        victim = alone.kill(stage)
        alone.wait_restarted(victim)
        progress(crowd, 60)
        crowd.check()
    # Service was back within a few seconds of each kill; the supervisor's own pause before a restart is in it.
    assert max(worker.longest_wait for worker in crowd.workers) < 12
    if stage == "gateway":
        assert all(worker.recoveries > 0 for worker in crowd.workers)
    # Nobody who kept the connection had to take a snapshot again.
    if stage != "gateway":
        assert sum(worker.snapshots for worker in crowd.workers) <= 2 * len(crowd.workers)


def test_who_leaves_while_no_fanout_is_there_is_gone(alone, apps, room):
    """No fan-out is told, and the one that comes never knew the leaver."""
    ada, bob, carol = [apps(alone.url, user) for user in ("ada", "bob", "carol")]
    for app in (ada, bob, carol):
        app.join(room)
    victim = alone.kill("fanout")
    carol.close()
    alone.wait_restarted(victim)
    for app in (ada, bob):
        app.wait("member:left", lambda member: member["userId"] == "carol", within=15)
    # Those who stay are no news.
    assert [member["userId"] for member in ada.named("member:joined")] == ["bob", "carol"]
    assert len(ada.named("member:left")) == 1 and bob.named("member:left") == ada.named("member:left")


def test_previews_come_back(alone, apps, room):
    """A preview may be lost with a daemon; what is sent after it is back is seen again, without joining anew."""
    ada = apps(alone.url, "ada", reconnects=False)
    bob = apps(alone.url, "bob", reconnects=False)
    ada.join(room)
    bob.join(room)
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "e"}})
    for stage in ("coalescer", "fanout", "committer"):
        victim = alone.kill(stage)
        alone.wait_restarted(victim)
        bob.forget()

        def is_seen():
            ada.send("element:transforming", {"roomId": room, "elementId": "e", "positionX": 1})
            return bob.named("element:transforming")

        eventually(f"a preview after the {stage} is back", is_seen, every=0.1)
        seq = ada.ok("element:transform", {"roomId": room, "elementId": "e", "positionX": 2})["seq"]
        bob.wait_seq(seq)
    assert ada.is_connected and bob.is_connected


def test_everything_restarts_on_the_same_data():
    with running() as pipeline:
        app = App(pipeline.url, "ada").connect()
        joined = app.join("kept")
        app.ok("element:create", {"roomId": "kept", "n": 1, "element": {"type": "photo", "id": "p", "own": "x"}})
        app.ok("element:transform", {"roomId": "kept", "n": 2, "elementId": "p", "positionX": 7, "transform": {"rotation": 9}})
        app.ok("element:create", {"roomId": "kept", "n": 3, "element": {"type": "note", "id": "gone"}})
        last = app.ok("element:delete", {"roomId": "kept", "n": 4, "elementId": "gone"})
        before = app.join("kept")
        app.close()

        assert pipeline.stop() == 0
        assert pipeline.leftovers() == []
        pipeline.start()

        again = App(pipeline.url, "ada").connect()
        answer = again.join("kept", session=joined["session"], resume={"epoch": joined["epoch"], "seq": 2})
        assert answer["recovered"] is True and answer["n"] == 4 and answer["epoch"] == joined["epoch"]
        assert [entry["seq"] for entry in answer["updates"]] == [3, 4]
        assert again.join("kept", session=joined["session"])["elements"] == before["elements"]
        repeated = again.ok("element:delete", {"roomId": "kept", "n": 4, "elementId": "gone"})
        assert repeated["duplicate"] is True and repeated["seq"] == last["seq"]
        again.refused("element:create", {"roomId": "kept", "n": 5, "element": {"type": "note", "id": "gone"}}, "gone")
        assert again.ok("element:transform", {"roomId": "kept", "n": 6, "elementId": "p", "positionX": 8})["seq"] == 5
        again.close()


def test_a_gateway_that_stops_says_so(double, apps, room):
    """SIGTERM: apps are told, closed, and go on at the other gateway with everything that they had."""
    app = apps(double.urls[0], "ada")
    joined = app.join(room)
    app.ok("element:create", {"roomId": room, "n": 1, "element": {"type": "note", "id": "e"}})
    victim = [process for process in double.processes("gateway") if process["name"].endswith("1")][0]
    os.kill(victim["pid"], signal.SIGTERM)
    app.wait("server:draining", within=10)
    app.wait("disconnect", within=15)
    other = apps(double.urls[1], "ada")
    answer = other.join(room, session=joined["session"], resume={"epoch": joined["epoch"], "seq": 1})
    assert answer["recovered"] is True and answer["updates"] == [] and answer["n"] == 1
    assert other.ok("element:transform", {"roomId": room, "n": 2, "elementId": "e", "positionX": 1})["seq"] == 2
    double.wait_restarted(victim, within=30)


def test_a_gateway_that_stops_answers_polls_to_the_end(double, room):
    """Every poll is a request, perhaps on a new connection: what is owed comes before the goodbye."""
    path = "/socket.io/?EIO=4&transport=polling"
    opened = requests.get(double.urls[0] + path, timeout=5).text
    url = f"{double.urls[0]}{path}&sid={json.loads(opened[1:])['sid']}"
    assert requests.post(url, '40{"userId":"ada"}', timeout=5).text == "ok"
    assert requests.get(url, timeout=5).text.startswith("40")
    assert requests.post(url, f'421["room:join",{{"roomId":"{room}"}}]', timeout=5).text == "ok"
    assert '"ok":true' in requests.get(url, timeout=5).text
    committers = [process["pid"] for process in double.processes("committer")]
    victim = [process for process in double.processes("gateway") if process["name"] == "gateway-1"][0]
    for pid in committers:
        os.kill(pid, signal.SIGSTOP)
    try:
        create = f'422["element:create",{{"roomId":"{room}","element":{{"type":"note","id":"e"}}}}]'
        assert requests.post(url, create, timeout=5).text == "ok"
        os.kill(victim["pid"], signal.SIGTERM)
        assert "server:draining" in requests.get(url, timeout=5).text
    finally:
        for pid in committers:
            os.kill(pid, signal.SIGCONT)
    text = ""
    while "432[" not in text:
        answer = requests.get(url, timeout=10)
        assert answer.status_code == 200, (text, answer.text)
        text += answer.text
    assert '"ok":true' in text
    double.wait_restarted(victim, within=30)


def test_what_can_be_undone_survives_restarts(apps, alone, room):
    ada = apps(alone.url, "ada")
    ada.join(room)
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "a"}, "undoable": False})
    ada.ok("element:transform", {"roomId": room, "elementId": "a", "positionX": 50})
    alone.wait_restarted(alone.kill("committer"))
    assert ada.ok("history:undo", {"roomId": room})["elements"][0]["positionX"] == 0
    alone.wait_restarted(alone.kill("fanout"))
    alone.wait_restarted(alone.kill("committer"))
    ada = apps(alone.url, "ada")
    ada.join(room)
    assert ada.ok("history:redo", {"roomId": room})["elements"][0]["positionX"] == 50
