"""The instances of every stage behind gateways come and go under load, by a file or by DNS, and nobody notices."""

import contextlib
import signal
import uuid

import pytest

import ports
from app import App
from linked import live
from live_sets import FilePipeline, NamedPipeline, ServicePipeline, SixPipeline
from pipeline import eventually
from resolver import Resolver
from survival import Crowd

FAST = ["--commits-per-second", 100000, "--commit-burst", 100000]
# What an instance counts that was given something to do.
WORK = {
    "fanout": "fanout_room_loads_total", "committer": "committer_commits_received_total",
    "coalescer": "coalescer_previews_received_total",
}


class Hand:
    """Somebody who moves an element, and somebody who watches."""

    def __init__(self, pipeline, room):
        self.room = f"{room}-hand"
        self.publisher, self.watcher = App(pipeline.url, "publisher").connect(), App(pipeline.url, "watcher").connect()
        self.publisher.join(self.room)
        self.watcher.join(self.room)
        self.publisher.ok("element:create", {"roomId": self.room, "element": {"type": "note", "id": "e"}})
        self.step = 0

    def moves(self):
        """A preview arrives, perhaps not the first that is sent: instances may come and go at this moment."""
        before = self.step

        def is_seen():
            self.step += 1
            preview = {"roomId": self.room, "elementId": "e", "positionX": self.step}
            self.publisher.send("element:transforming", preview)
            seen = [data["positionX"] for data in self.watcher.named("element:transforming")]
            assert seen == sorted(seen), "previews of one gesture in another order"
            return seen and seen[-1] > before

        eventually("the watcher sees the publisher", is_seen, within=15, every=0.05)

    def close(self):
        self.publisher.close()
        self.watcher.close()


def scatter(app, count):
    """Moves something in rooms, of which each instance has some if they are many."""
    for _ in range(count):
        room = str(uuid.uuid4())
        app.join(room)
        app.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "e"}})
        app.send("element:transforming", {"roomId": room, "elementId": "e", "positionX": 1})
        app.ok("element:transform", {"roomId": room, "elementId": "e", "positionX": 2})
        app.ok("room:leave", {"roomId": room})


def all_work(pipeline, stage):
    def is_shared():
        scatter(visitor, 10)
        return all(pipeline.metric(name, WORK[stage]) > 0 for name in pipeline.names[stage])

    with contextlib.closing(App(pipeline.url, "visitor").connect()) as visitor:
        eventually(f"every {stage} has work", is_shared, within=30)


def has_no_work(pipeline, crowd, name):
    """An instance that was removed and goes on is left by everybody."""
    stage = name.split("-")[0]

    def is_left():
        # A fan-out looks after its rooms for a while, without being sent anything.
        if stage == "fanout":
            return pipeline.metric(name, 'links_up{peer_stage="gateway"}') == 0
        before = pipeline.metric(name, WORK[stage])
        goes_on(crowd, 20)
        return pipeline.metric(name, WORK[stage]) == before

    eventually(f"{name} has nothing to do", is_left, within=15)


def assert_undisturbed(crowd, hand):
    """Whoever is at a gateway that stays is not disconnected, whatever happens behind it."""
    for worker in crowd.workers:
        assert (worker.snapshots, worker.recoveries) == (1, 0), worker.user
        assert worker.fault is None, worker.fault
    assert hand.publisher.is_connected and hand.watcher.is_connected


def goes_on(crowd, count=50):
    target = crowd.count + count
    eventually("commits are acknowledged", lambda: crowd.count >= target, within=30)


def test_every_stage_grows_and_shrinks_under_load(single, room):
    pipeline = FilePipeline(single.own_database("sets_file"), settings=FAST)
    with live(pipeline), Crowd(pipeline, room) as crowd:
        hand = Hand(pipeline, room)
        for stage in ["fanout", "committer", "coalescer"]:
            for starts_first in [True, False]:
                pipeline.add(stage, starts_first)
                goes_on(crowd)
                hand.moves()
            all_work(pipeline, stage)
        assert_undisturbed(crowd, hand)
        # The one that was there first goes, too.
        for stage in ["coalescer", "committer", "fanout"]:
            drained, killed = pipeline.names[stage][:2]
            pipeline.remove(drained)
            goes_on(crowd)
            has_no_work(pipeline, crowd, drained)
            pipeline.stop_one(drained)
            hand.moves()
            pipeline.stop_one(killed, signal.SIGKILL)
            pipeline.remove(killed)
            goes_on(crowd)
            hand.moves()
        assert_undisturbed(crowd, hand)
        hand.close()
        crowd.check()


def test_a_file_that_is_wrong_changes_nothing(single, room, apps):
    pipeline = FilePipeline(single.own_database("sets_wrong"))
    with live(pipeline):
        stale = 'set_stale{set="fanouts"}'
        app = apps(pipeline.url, "ada")
        app.join(room)
        good = pipeline.text()
        path = pipeline.folder / "instances.json"
        for bad, reason in [
            (good[: len(good) // 2], "is no JSON"), ('{\n "fanouts": []\n}', "line 2: fanouts must be an array"),
            (good.replace("fanout-1=tcp", "fanout-1=udp"), "is no endpoint"), ("", "is empty"),
        ]:
            # In place, as an editor without manners does.
            path.write_text(bad)
            for name in ["gateway-1", "coalescer-1", "committer-1"]:
                eventually(f"{name} says so", lambda: reason in pipeline.notes(name))
                assert pipeline.metric(name, stale) == 1 and pipeline.is_ready(name)
                assert pipeline.metric(name, 'set_instances{set="fanouts"}') == 1
            app.ok("element:create", {"roomId": room, "element": {"type": "note"}})
        path.write_text(good)
        for name in ["gateway-1", "coalescer-1", "committer-1"]:
            eventually(f"{name} accepts it", lambda: pipeline.metric(name, stale) == 0)
            assert pipeline.metric(name, 'set_changes_total{set="fanouts"}') == 0


@pytest.fixture
def resolver():
    resolver = Resolver()
    yield resolver
    resolver.close()


def test_instances_come_and_go_by_dns(single, room, resolver):
    pipeline = NamedPipeline(single.own_database("sets_dns"), resolver, most=2, settings=FAST)
    with live(pipeline), Crowd(pipeline, room) as crowd:
        hand = Hand(pipeline, room)
        for stage in ["fanout", "committer", "coalescer"]:
            pipeline.add(stage, starts_first=True)
            goes_on(crowd)
            hand.moves()
            all_work(pipeline, stage)
        _resolver_fails(pipeline, resolver, crowd)
        hand.moves()
        for stage in ["coalescer", "committer", "fanout"]:
            name = pipeline.names[stage][0]
            pipeline.remove(name)
            goes_on(crowd)
            has_no_work(pipeline, crowd, name)
            pipeline.stop_one(name)
            hand.moves()
        assert_undisturbed(crowd, hand)
        # A lookup that never ends does not keep a daemon from ending.
        resolver.mood, asked = "silent", resolver.asked
        eventually("daemons wait for an answer", lambda: resolver.asked >= asked + 3)
        goes_on(crowd)
        hand.close()
        crowd.check()


def test_instances_come_and_go_by_service_records(single, room, resolver):
    pipeline = ServicePipeline(single.own_database("sets_srv"), resolver, most=2, settings=FAST)
    with live(pipeline), Crowd(pipeline, room) as crowd:
        hand = Hand(pipeline, room)
        pipeline.add("fanout", starts_first=False)
        goes_on(crowd)
        # One that has another port from now on is another instance, for which nobody waits.
        pipeline.stop_one("fanout-1")
        pipeline.ports["fanout-1"] = ports.free()
        pipeline.launch("fanout", "fanout-1")
        pipeline.publish()
        goes_on(crowd)
        hand.moves()
        all_work(pipeline, "fanout")
        _service_fails(pipeline, resolver)
        pipeline.remove("fanout-1")
        has_no_work(pipeline, crowd, "fanout-1")
        pipeline.stop_one("fanout-1")
        hand.moves()
        hand.close()
        crowd.check()


def _service_fails(pipeline, resolver):
    """Whatever is wrong with the records, for longer than an instance stays that they do not list: all stay."""
    service, host = "_fanout._tcp.touchsync.test", "fanout-1.touchsync.test"
    for name, records, reason in [
        (service, [], "has no SRV records"), (service, [("nowhere.test", 7)], "lists no instance that has an address"),
        (service, [(host, 7), (host, 8)], "twice"), (host, "servfail", "does not resolve"),
    ]:
        kept, resolver.names[name] = resolver.names[name], records
        before = pipeline.metric("gateway-1", 'set_failures_total{set="fanouts"}')
        pipeline.counts("gateway-1", 'set_failures_total{set="fanouts"}', above=before + 3)
        assert reason in pipeline.notes("gateway-1")
        assert pipeline.metric("gateway-1", 'set_instances{set="fanouts"}') == 2
        resolver.names[name] = kept


def _resolver_fails(pipeline, resolver, crowd):
    for mood, reason in [("servfail", "does not resolve"), ("empty", "has no address")]:
        resolver.mood = mood
        for name in ["gateway-1", "coalescer-1", "committer-1"]:
            stale = 'set_stale{set="fanouts"}'
            # Sets are looked up one after the other.
            eventually(
                f"{name} says so", lambda: pipeline.metric(name, stale) == 1 and reason in pipeline.notes(name))
            assert pipeline.is_ready(name)
        goes_on(crowd)
        resolver.mood = "well"
        for name in ["gateway-1", "coalescer-1", "committer-1"]:
            eventually(f"{name} has an answer", lambda: pipeline.metric(name, 'set_stale{set="fanouts"}') == 0)
            assert pipeline.metric(name, 'set_instances{set="fanouts"}') == 2
            assert pipeline.metric(name, 'set_changes_total{set="fanouts"}') <= 2


@pytest.mark.timeout(60)
def test_service_records_may_name_hosts_of_ipv6(single, room, resolver):
    pipeline = SixPipeline(single.own_database("sets_six"), resolver, most=2, settings=FAST)
    with live(pipeline):
        hand = Hand(pipeline, room)
        for stage in ("fanout", "committer", "coalescer"):
            pipeline.add(stage, starts_first=True)
            all_work(pipeline, stage)
        hand.moves()
        hand.close()
