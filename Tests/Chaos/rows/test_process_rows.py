"""Faults of daemons and of their surroundings that need their moment."""

import asyncio
import pathlib
import signal
import struct
import subprocess
import time

import pytest

import hand
import zmtp
from conftest import acknowledged, counted, eventually, metric
from line import Line


def test_two_committers_own_every_shard(row):
    """A configuration that is split: each gateway knows another committer, and both write the same shards."""

    def sees(name, peer):
        return not peer.startswith(("committer", "coalescer")) or name[-1] == peer[-1] or name.startswith("fanout")

    async def play():
        async with row.world(apps=30, pause=0.1, sees=sees) as world:
            await acknowledged(world, 400)
            # They got into each other's way, and each time one of them decided anew.
            await counted(world, "committer", "batches_total", '"stale"')

    row.run(play())


def test_stages_grow_and_shrink(row):
    """One of three instances of each stage, all of them, another one alone. Each daemon reads of it in its own time; those
    that are removed go on, and of each stage one is killed when it goes."""
    stages = ["coalescer", "committer", "fanout"]

    async def spread(world, instances):
        cluster = world.cluster
        for name in sorted(cluster.addresses, key=lambda _: world.random.random()):
            cluster.publish(name, lambda peer: peer[-1] in instances)
            await asyncio.sleep(world.random.uniform(0, 0.4))

        async def is_known():
            known = set()
            for daemon in (cluster.daemons[name] for name in cluster.addresses):
                metrics = await cluster.metrics(daemon)
                known.add(metrics.get('touchsync_set_instances{set="fanouts"}'))
            return known == {len(instances)}

        await eventually(f"all know {instances}", is_known)

    async def play():
        counts = {stage: 3 for stage in stages}
        async with row.world(pause=0.1, counts=counts, has_files=True, sees=lambda _, peer: peer[-1] == "1") as world:
            await acknowledged(world, 40)
            for instances in ["12", "123", "23", "3"]:
                if instances == "3":
                    for stage in stages:
                        world.cluster.daemons[f"{stage}-2"].send(signal.SIGKILL)
                await spread(world, instances)
                await acknowledged(world, 60)

    row.run(play())


def test_a_zombie_wakes(row):
    """A committer freezes with a transaction under way; another takes its shards; it wakes with all its old work."""

    async def play():
        async with row.world(pause=0.1) as world:
            await acknowledged(world, 40)
            for name in ("committer-1", "committer-2"):
                victim = world.cluster.daemons[name]
                async with world.open_transactions(name) as pids:
                    assert pids, f"{name} had nothing under way"
                    victim.send(signal.SIGSTOP)
                # The other one is served by now, the frozen one's silence is noticed after 2.5 s.
                await asyncio.sleep(4)
                await acknowledged(world, 40)
                victim.send(signal.SIGCONT)
                await acknowledged(world, 40)

    row.run(play())


def test_everything_is_killed_at_once(row):
    """The power goes: daemons, primary and standby, each in the midst of a transaction."""

    async def play():
        async with row.world() as world:
            await acknowledged(world, 40)
            pair = world.cluster.postgres
            async with world.open_transactions() as pids:
                assert pids
                for daemon in world.cluster.daemons.values():
                    daemon.send(signal.SIGKILL)
                await asyncio.gather(pair.primary.stop(signal.SIGKILL), pair.standby.stop(signal.SIGKILL))
            pair.start_primary()
            pair.start_standby()
            await acknowledged(world, 40, within=40)

    row.run(play())


class Deaf:
    """A connection's owner who hears nothing."""

    ended_at = None

    def opened(self):
        pass

    def event(self, name, data):
        pass

    def answered(self, number, data):
        pass

    def garbled(self, start):
        pass

    def ended(self):
        self.ended_at = asyncio.get_running_loop().time()


def test_descriptors_run_out(row):
    """A gateway has few descriptors and many visitors: it turns the last ones away and serves the rest on."""

    async def play():
        # Its own links and listeners take some fifty.
        prefixes = {"gateway": ["prlimit", "--nofile=96:96", "--"]}
        async with row.world(apps=10, counts={"gateway": 1}, prefixes=prefixes) as world:
            await acknowledged(world, 20)
            gateway = world.cluster.of("gateway")[0]
            address = world.cluster.app_addresses(through_proxy=False)[0]
            visitors = []
            for index in range(150):
                try:
                    visitors.append(await asyncio.wait_for(Line.dial(address, Deaf(), {"userId": f"visitor-{index}"}), 2))
                except (OSError, TimeoutError):
                    break
            await asyncio.sleep(1)
            assert gateway.resources()[1] >= 90, "the descriptors never ran out"
            await acknowledged(world, 20)
            for visitor in visitors:
                visitor.close()

            async def welcomes():
                line = await Line.dial(address, Deaf(), {"userId": "late"})
                await world.until("connected", lambda: line.is_open or line.transport.is_closing(), 3)
                is_open = line.is_open
                line.close()
                return is_open

            await eventually("newcomers are welcome again", welcomes)
            assert gateway.starts == 1

    row.run(play())


@pytest.fixture
def clocks(row):
    """Wall clocks for daemons that can be set while they run."""
    library = row.folder / "clock.so"
    source = pathlib.Path(__file__).parent.parent / "clock.c"
    subprocess.run(["clang", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)

    class Clock:
        def __init__(self, name, seconds):
            self.path = row.folder / f"{name}.clock"
            self.set(seconds)
            self.prefix = ["env", f"LD_PRELOAD={library}", f"CLOCK_OFFSET={self.path}"]

        def set(self, seconds):
            with open(self.path, "r+b" if self.path.exists() else "wb") as file:
                file.write(struct.pack("<q", int(seconds)))

    return Clock


def test_clocks_disagree_and_jump(row, clocks, monkeypatch):
    """Every daemon has a time of its own, hours or decades off, and it jumps. Nothing is ordered by it. Nobody animates: by
    the clock of a committer an hour behind, an animation that an undo brings back is over, and is left out."""
    monkeypatch.setattr(hand, "ANIMATIONS", 0)

    async def play():
        hour, epoch = 3600, -time.time()
        offsets = {
            "gateway-1": hour, "gateway-2": epoch, "coalescer-1": -hour, "coalescer-2": epoch, "committer-1": epoch,
            "committer-2": hour, "fanout-1": hour, "fanout-2": -hour,
        }
        known = {name: clocks(name, offset) for name, offset in offsets.items()}
        prefixes = {name: clock.prefix for name, clock in known.items()}
        async with row.world(prefixes=prefixes) as world:
            await acknowledged(world, 60)
            for turn in (-1, 1):
                for name, clock in known.items():
                    clock.set(offsets[name] + turn * hour)
                await acknowledged(world, 60)
                world.cluster.of("fanout")[0].send(signal.SIGKILL)
                world.cluster.of("committer")[1].send(signal.SIGKILL)
                await acknowledged(world, 60)
            await world.cluster.is_ready()

    row.run(play())


@pytest.mark.long("RoundTripTests has more fields at the end of every record, and kinds that nobody knows")
def test_a_newer_release_on_every_link(row):
    """Every record on every link has a field more, and there are records of a kind that nobody knows."""

    async def play():
        async with row.world(pause=0.1, is_keyed=False) as world:
            await acknowledged(world, 40)
            links = [proxy for proxy in world.cluster.proxies.values() if proxy.may_repeat]
            for proxy in links[::2]:
                proxy.ways[0].rewrite = proxy.ways[1].rewrite = zmtp.with_more_fields
            await acknowledged(world, 100)
            for proxy in links:
                proxy.ways[0].rewrite = proxy.ways[1].rewrite = zmtp.with_more_fields
                proxy.cut()
            previews = world.counts["previews"]
            await acknowledged(world, 200)
            assert world.counts["previews"] > previews
            await world.figures.look()
            assert world.figures.total("touchsync_envelopes_malformed_total") == 0

    row.run(play())
