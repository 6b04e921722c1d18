"""Three hosts: gateways on one, coalescer and fan-out on the second, the committer on the third; links guarded by keys.

PostgreSQL is reached through its local socket, which does not care for network namespaces.
"""

import threading
import time

import pytest

from hosts import hosts
from linked import linked
from pipeline import eventually


@pytest.fixture(scope="module")
def places():
    with hosts(3) as (front, middle, back):
        yield {"gateway": front, "coalescer": middle, "fanout": middle, "committer": back}


@pytest.fixture(scope="module")
def spread(single, places):
    """The daemons on their hosts."""
    database = single.report["database"].replace("/touchsync?", "/hosts?")
    with linked(database, gateways=2, hosts=places) as pipeline:
        yield pipeline


@pytest.fixture
def pair(spread, apps, room):
    """Two apps on two gateways in a room with one element."""
    ada, bob = apps(spread.urls[0], "ada"), apps(spread.urls[1], "bob")
    ada.join(room)
    bob.join(room)
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "e"}})
    bob.wait("element:created")
    return ada, bob


def positions(app):
    return [event.data["element"]["positionX"] for event in app.events if event.name == "element:transformed"]


class Commits:
    """Commits of one app, one after the other, in a thread of their own."""

    def __init__(self, app, room):
        self.app, self.room = app, room
        self.answers = []
        self.isOn = True
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        while self.isOn:
            number = len(self.answers) + 1
            payload = {"roomId": self.room, "elementId": "e", "positionX": number}
            self.answers.append(self.app.call("element:transform", payload))
            time.sleep(0.02)

    def stop(self):
        self.isOn = False
        self.thread.join(30)
        return self.answers


def test_commits_and_previews_pass_between_hosts(spread, pair, room):
    ada, bob = pair
    ada.send("element:transforming", {"roomId": room, "elementId": "e", "positionX": 5})
    assert bob.wait("element:transforming")["positionX"] == 5
    ada.ok("element:transform", {"roomId": room, "elementId": "e", "positionX": 9})
    assert bob.wait("element:transformed")["element"]["positionX"] == 9


@pytest.mark.parametrize("stage", ["committer", "fanout"])
def test_a_host_that_was_cut_off_comes_back(spread, places, pair, room, stage):
    """Nothing that was acknowledged is missing, nothing comes twice, and no commit fails."""
    ada, bob = pair
    commits = Commits(ada, room)
    eventually("commits pass", lambda: len(commits.answers) > 5)
    places[stage].cut()
    # Longer than a link waits for a sign of life (2.5 s).
    time.sleep(3.5)
    assert not spread.is_ready("gateway-1")
    if stage == "committer":
        # Whoever has no commit under way still shows what they do.
        bob.send("element:transforming", {"roomId": room, "elementId": "e", "positionX": -5})
        ada.wait("element:transforming")
    places[stage].restore()
    eventually("the gateway is ready", lambda: spread.is_ready("gateway-1"), within=20)
    before = len(commits.answers)
    eventually("commits pass again", lambda: len(commits.answers) > before + 5, within=20)
    answers = commits.stop()
    assert [answer["ok"] for answer in answers] == [True] * len(answers), answers
    seqs = [answer["seq"] for answer in answers]
    assert seqs == list(range(2, 2 + len(seqs)))
    eventually("the other one has all", lambda: positions(bob) == list(range(1, len(answers) + 1)))
