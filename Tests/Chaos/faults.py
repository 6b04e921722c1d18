"""Faults of processes and connections. Each class is one kind; `strike` does the harm and takes it back again."""

import asyncio
import os
import signal

from daemons import STAGES
from proxy import DOWN, UP


class Fault:
    """One kind of fault. `name` is what it is counted under."""

    name = ""
    # Belongs to the short form as well.
    is_main = False
    # May happen while another one does.
    is_small = False
    # It takes one of two daemons away: the time without any acknowledgement is bounded.
    kills = False
    # Seconds within which each commit must be answered that comes through one gateway all the time, and not through one
    # that is cut off; None without a limit.
    answers_within = None

    async def strike(self, world):
        raise NotImplementedError


class Kill(Fault):
    """SIGKILL to one of two; to a committer while it has a transaction open."""

    kills = True
    is_main = True

    def __init__(self, stage):
        self.stage = stage
        self.name = f"kill-{stage}"

    async def strike(self, world):
        victim = world.random.choice(world.cluster.of(self.stage))
        if self.stage == "committer":
            async with world.open_transactions(victim.name):
                victim.send(signal.SIGKILL)
        else:
            victim.send(signal.SIGKILL)


class Freeze(Fault):
    """SIGSTOP for a while: only its silence tells, and its stale work must do no harm."""

    is_main = True

    def __init__(self, stage):
        self.stage = stage
        self.name = f"freeze-{stage}"

    async def strike(self, world):
        victim = world.random.choice(world.cluster.of(self.stage))
        victim.send(signal.SIGSTOP)
        await asyncio.sleep(world.random.uniform(1, 6))
        victim.send(signal.SIGCONT)


class Zombie(Fault):
    """A committer freezes in the midst of a transaction, another one takes its shards, then it wakes."""

    name = "zombie-committer"

    async def strike(self, world):
        victim = world.random.choice(world.cluster.of("committer"))
        async with world.open_transactions(victim.name):
            victim.send(signal.SIGSTOP)
        await asyncio.sleep(4)
        victim.send(signal.SIGCONT)


class Drain(Fault):
    """SIGTERM to one of two: it finishes what it has."""

    name = "drain"

    async def strike(self, world):
        victim = world.random.choice(list(world.cluster.daemons.values()))
        before = victim.starts
        victim.send(signal.SIGTERM)
        for _ in range(150):
            if victim.starts > before:
                return
            await asyncio.sleep(0.1)
        world.violation(f"{victim.name} did not end within 15 s of SIGTERM")
        victim.send(signal.SIGKILL)


class Everything(Fault):
    """All daemons and the database at once, as when the power goes."""

    name = "kill-everything"
    is_main = True

    async def strike(self, world):
        pair = world.cluster.postgres
        async with world.open_transactions():
            for daemon in world.cluster.daemons.values():
                daemon.send(signal.SIGKILL)
            await asyncio.gather(pair.primary.stop(signal.SIGKILL), pair.standby.stop(signal.SIGKILL))
        await asyncio.sleep(0.5)
        pair.start_primary()
        pair.start_standby()


class LinkCut(Fault):
    """All connections to or from one daemon end at once."""

    name = "link-cut"
    is_main = True
    is_small = True

    async def strike(self, world):
        for _ in range(3):
            for proxy in world.some_links():
                proxy.cut()
            await asyncio.sleep(world.random.uniform(0.05, 0.5))


class LinkCutAfter(Fault):
    """Connections between daemons end after so many bytes, in the midst of whatever stands there."""

    name = "link-cut-after"
    is_small = True

    async def strike(self, world):
        for proxy in world.some_links():
            proxy.ways[world.random.choice((UP, DOWN))].cut_after = world.random.randint(1, 8000)
        await asyncio.sleep(2)


class LinkOneWay(Fault):
    """What goes one way disappears while the other way works: only silence tells."""

    name = "link-one-way"
    is_main = True

    async def strike(self, world):
        way = world.random.choice((UP, DOWN))
        for proxy in world.some_links():
            proxy.ways[way].is_swallowed = True
        await asyncio.sleep(world.random.uniform(1, 5))


class StreamLost(Fault):
    """One gateway hears nothing from the fan-outs, for longer than they can make good: its apps must join again."""

    name = "stream-lost"
    is_main = True

    async def strike(self, world):
        victim = world.random.choice(world.cluster.behind_proxies("gateway"))
        for proxy in world.cluster.between(source=victim.name, target="fanout"):
            proxy.ways[DOWN].is_swallowed = True
        await asyncio.sleep(6)


class LinkHeld(Fault):
    """Everything between some daemons waits, and comes all at once later."""

    name = "link-held"
    is_small = True

    async def strike(self, world):
        for proxy in world.some_links():
            for way in proxy.ways:
                way.is_held = True
        await asyncio.sleep(world.random.uniform(0.5, 4))


class LinkDelay(Fault):
    """Everything between some daemons is late."""

    name = "link-delay"
    is_main = True
    is_small = True

    async def strike(self, world):
        for proxy in world.some_links():
            for way in proxy.ways:
                way.delay = world.random.uniform(0.02, 0.4)
        await asyncio.sleep(3)


class LinkRepeat(Fault):
    """Messages between daemons go twice."""

    name = "link-repeat"
    is_main = True
    is_small = True

    async def strike(self, world):
        proxies = [proxy for proxy in world.cluster.proxies.values() if proxy.may_repeat]
        for proxy in proxies:
            for way in proxy.ways:
                way.repeats_every = world.random.randint(1, 4)
        await asyncio.sleep(2.5)
        for proxy in proxies:
            world.counts["messages repeated"] += proxy.repeated
            proxy.repeated = 0


class AppCut(Fault):
    """Apps' connections end after so many bytes, whatever they were about."""

    name = "app-cut"
    is_main = True
    is_small = True

    async def strike(self, world):
        for _ in range(3):
            for proxy in world.cluster.between(source="app"):
                proxy.ways[world.random.choice((UP, DOWN))].cut_after = world.random.randint(1, 3000)
            await asyncio.sleep(0.6)


class AppOneWay(Fault):
    """What apps send, or what they are sent, disappears."""

    name = "app-one-way"

    async def strike(self, world):
        for proxy in world.cluster.between(source="app"):
            proxy.ways[world.random.choice((UP, DOWN))].is_swallowed = True
        await asyncio.sleep(world.random.uniform(2, 7))


class AppDelay(Fault):
    """Apps are far away."""

    name = "app-delay"
    is_small = True

    async def strike(self, world):
        for proxy in world.cluster.between(source="app"):
            for way in proxy.ways:
                way.delay = world.random.uniform(0.05, 1.0)
        await asyncio.sleep(3)


class SlowReaders(Fault):
    """Some apps read nothing for a while."""

    name = "slow-readers"
    is_small = True

    async def strike(self, world):
        lines = [app.line for app in world.random.sample(world.apps, max(1, len(world.apps) // 10)) if app.line]
        for line in lines:
            if not line.transport.is_closing():
                line.transport.pause_reading()
        await asyncio.sleep(world.random.uniform(1, 5))
        for line in lines:
            if not line.transport.is_closing():
                line.heard = asyncio.get_running_loop().time()
                line.transport.resume_reading()


class Storm(Fault):
    """All apps lose their connections in the same moment and come back."""

    name = "reconnect-storm"
    is_small = True

    async def strike(self, world):
        for app in world.apps:
            if app.line:
                app.line.close()
        await asyncio.sleep(1)


class AppsDie(Fault):
    """Some apps end with what they held, and begin again as new sessions."""

    name = "apps-die"
    is_small = True

    async def strike(self, world):
        for app in world.random.sample(world.apps, max(1, len(world.apps) // 20)):
            app.die()
        await asyncio.sleep(0.5)


class Garbage(Fault):
    """Bytes that mean nothing, to every port of every daemon."""

    name = "garbage"
    is_small = True

    async def strike(self, world):
        writers = []
        for name in world.cluster.binds:
            for start in (b"", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00", b"\xff\0\0\0\0\0\0\0\x01\x7f\x03\0NULL"):
                try:
                    _, writer = await asyncio.open_connection(*world.cluster.address(name))
                except OSError:
                    continue
                writer.write(start + os.urandom(world.random.randint(0, 4000)))
                writers.append(writer)
        await asyncio.sleep(0.5)
        for writer in writers:
            writer.close()


PROCESSES = [
    *(Kill(stage) for stage in STAGES), *(Freeze(stage) for stage in STAGES), Zombie(), Drain(), Everything(),
    LinkCut(), LinkCutAfter(), LinkOneWay(), StreamLost(), LinkHeld(), LinkDelay(), LinkRepeat(), AppCut(), AppOneWay(), AppDelay(),
    SlowReaders(), Storm(), AppsDie(), Garbage(),
]
