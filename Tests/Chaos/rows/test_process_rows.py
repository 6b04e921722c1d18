"""Faults of daemons and of their surroundings that need their moment."""

import asyncio
import contextlib
import os
import pathlib
import signal
import struct
import subprocess
import time

import pytest

import zmtp
from conftest import acknowledged, counted, eventually, metric, nothing_failed
from daemons import STAGES
from line import Line
from watch import MEGABYTE


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
                known.add(metrics.get(f'touchsync_{daemon.stage}_set_instances{{set="fanouts"}}'))
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


@pytest.mark.long("test_flow.py replaces everything under load")
def test_one_after_the_other_is_replaced(row):
    """SIGTERM to every daemon in turn, as for a new release: each ends in order and in time, and nobody is refused for
    good."""

    async def play():
        async with row.world() as world:
            await acknowledged(world, 20)
            for daemon in [daemon for stage in STAGES for daemon in world.cluster.of(stage)]:
                began = asyncio.get_running_loop().time()
                daemon.send(signal.SIGTERM)
                assert await world.until(f"{daemon.name} has ended", lambda: daemon.codes, 15.5)
                assert daemon.codes == [0], (daemon.name, daemon.codes, daemon.tail())
                await world.cluster.is_ready()
                await acknowledged(world, 20)
                assert asyncio.get_running_loop().time() - began < 30
            nothing_failed(world)

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


@pytest.mark.long("test_slow_readers.py")
def test_apps_that_read_nothing(row):
    """A third of a busy room stops reading: the others are served as before, and no gateway keeps it all."""

    async def play():
        settings = {"gateway": {"max-buffered-bytes": 65536}}
        async with row.world(apps=30, pause=0.05, settings=settings, counts={"gateway": 1}) as world:
            await acknowledged(world, 100)
            address = world.cluster.app_addresses(through_proxy=False)[0]
            room = world.apps[0].room
            lines = []
            for index in range(10):
                line = await Line.dial(address, Deaf(), {"userId": f"deaf-{index}"}, receive_buffer=2048)
                assert await world.until("it is connected", lambda: line.is_open, 5)
                line.call(1, "room:join", {"roomId": room})
                lines.append(line)
            await asyncio.sleep(0.5)
            for line in lines:
                line.transport.pause_reading()
            world.outages.begin()
            gateway = world.cluster.of("gateway")[0]
            for _ in range(8):
                await acknowledged(world, 100)
            assert world.outages.longest_room < 5
            assert gateway.resources()[0] < 128 * MEGABYTE
            for line in lines:
                line.close()

    row.run(play())


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
def memory_groups():
    """Makes memory control groups, one for each daemon; needs root and a writable cgroup file system."""
    base = next((path for path in (pathlib.Path("/sys/fs/cgroup/memory"), pathlib.Path("/sys/fs/cgroup"))
                 if list(path.glob("*memory.*limit*")) or (path / "cgroup.controllers").exists()), None)
    groups = {}

    def make(name, size):
        group = groups[name] = base / f"touchsync-chaos-{os.getpid()}-{name}"
        group.mkdir()
        limit = next(group / file for file in ("memory.max", "memory.limit_in_bytes") if (group / file).exists())
        limit.write_text(str(size))
        return ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]

    try:
        make("probe", MEGABYTE)
    except (OSError, TypeError, StopIteration) as error:
        pytest.fail(f"THIS ROW NEEDS THE RIGHT TO MAKE MEMORY CONTROL GROUPS: {error}")
    try:
        yield make
    finally:
        for group in groups.values():
            with contextlib.suppress(OSError):
                group.rmdir()


@pytest.mark.long("the attacks of Tests/Hostile let no daemon grow by more than 64 MiB")
def test_little_memory(row, memory_groups):
    """Each daemon gets 64 MiB, and the kernel kills what takes more. Apps that read nothing and a flood of commits do not
    make any of them."""

    async def play():
        names = [f"{stage}-{index}" for stage in STAGES for index in (1, 2)]
        prefixes = {name: memory_groups(name, 64 * MEGABYTE) for name in names}
        async with row.world(apps=60, pause=0.03, prefixes=prefixes) as world:
            await acknowledged(world, 400)
            lines = []
            for address in world.cluster.app_addresses(through_proxy=False):
                for index in range(40):
                    line = await Line.dial(address, Deaf(), {"userId": f"deaf-{index}"}, receive_buffer=2048)
                    lines.append(line)
                    await world.until("connected", lambda line=line: line.is_open, 5)
                    line.call(1, "room:join", {"roomId": world.apps[index % 60].room})
                    line.transport.pause_reading()
            await acknowledged(world, 2000, within=60)
            for line in lines:
                line.close()
            assert all(daemon.starts == 1 for daemon in world.cluster.daemons.values())

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


def test_clocks_disagree_and_jump(row, clocks):
    """Every daemon has a time of its own, hours or decades off, and it jumps. Nothing is ordered by it."""

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


@pytest.mark.long("LinkTests.anotherVersionIsRefusedUntilItIsTheSame; the storm cuts such links")
def test_another_release_on_one_link(row):
    """One link speaks a version that cannot be understood: it is refused, and others do the work."""

    async def play():
        async with row.world(is_keyed=False) as world:
            await acknowledged(world, 20)
            strangers = world.cluster.between(source="gateway-1", target="committer-1")
            strangers += world.cluster.between(source="coalescer", target="committer-1")
            for proxy in strangers:
                for way in proxy.ways:
                    way.rewrite = zmtp.of_next_version
                proxy.cut()
            await acknowledged(world, 60)
            committer = world.cluster.daemons["committer-1"]

            async def is_refused():
                notes = [(await world.cluster.fetch(daemon, "/readyz"))[1] for daemon in (committer, gateway)]
                return b"gateway-1 speaks 3" in notes[0] and b"committer-1 speaks 3" in notes[1]

            gateway = world.cluster.daemons["gateway-1"]
            await eventually("the link is refused, and both sides say so", is_refused)
            assert "another version" in committer.tail(1 << 20)
            await counted(world, "committer", "link_refusals_total", '"version"')
            for proxy in strangers:
                proxy.heal()
                proxy.cut()
            await acknowledged(world, 40)
            await world.cluster.is_ready()

            async def is_understood():
                return b"speaks" not in (await world.cluster.fetch(committer, "/readyz"))[1]

            await eventually("nothing is left to be said", is_understood)

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
            for stage in ("coalescer", "committer", "fanout"):
                assert await metric(world, stage, "envelopes_malformed_total") == 0

    row.run(play())


@pytest.mark.long("LinkFaultTests, the shells of SocketIOTests, and the fuzzer")
def test_garbage_on_every_port(row):
    """Bytes that are no protocol's, half-open connections, and a slow writer, on all ports at once."""

    async def play():
        async with row.world() as world:
            await acknowledged(world, 20)
            starts = [
                b"", b"\0", b"GET / HTTP/1.1\r\n\r\n", b"POST /socket.io/ HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n",
                b"\x16\x03\x01\x02\0\x01\0\x01\xfc", b"\xff\0\0\0\0\0\0\0\x01\x7f\x03\0NULL" + bytes(48),
                b"\xff\0\0\0\0\0\0\0\x01\x7f\x03\0CURVE" + bytes(47) + b"\x02\xff\xff\xff\xff\xff\xff\xff\xff",
            ]
            ports = [port for name, port in world.cluster.binds.items()]
            ports += [port + 1 for name, port in world.cluster.binds.items() if name.startswith("coalescer")]
            ports += [int(daemon.http.rsplit(":", 1)[1].strip("/")) for daemon in world.cluster.daemons.values()]
            writers = []
            for port in ports:
                for start in starts:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.write(start + (os.urandom(2000) if start else b""))
                    writers.append(writer)
            for _ in range(20):
                for writer in writers:
                    if not writer.is_closing():
                        writer.write(b"\r")
                await asyncio.sleep(0.05)
            await acknowledged(world, 40)
            for writer in writers:
                writer.close()
            assert all(daemon.starts == 1 for daemon in world.cluster.daemons.values())

    row.run(play())


@pytest.mark.long("LoggingTests.aSinkThatNobodyReadsNeverBlocks")
def test_nobody_reads_the_logs(row):
    """The pipe that daemons log to is full and stays so: they go on."""

    async def play():
        read, write = os.pipe()
        os.set_blocking(write, False)
        try:
            while True:
                os.write(write, bytes(65536))
        except BlockingIOError:
            pass
        os.set_blocking(write, True)
        try:
            async with row.world(log=(write, "debug")) as world:
                await acknowledged(world, 40)
                world.cluster.of("committer")[0].send(signal.SIGKILL)
                world.cluster.of("fanout")[0].send(signal.SIGKILL)
                await acknowledged(world, 60)
                await world.cluster.is_ready()
        finally:
            os.close(read)
            os.close(write)

    row.run(play())
