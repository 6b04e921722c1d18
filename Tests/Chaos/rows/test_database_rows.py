"""Faults of PostgreSQL that need their moment."""

import asyncio
import contextlib
import shutil
import signal
import subprocess
import time

import psycopg
import pytest

from conftest import acknowledged, counted, eventually, metric
from proxy import DOWN


def test_a_cancelled_wait_for_the_standby_is_no_acknowledgement(row):
    """The standby is gone and an operator cancels the COMMITs that wait for it. PostgreSQL calls that a success with a
    warning; nobody may be told so before a standby has what was written."""

    async def play():
        async with row.world() as world:
            await acknowledged(world, 20)
            primary = world.cluster.postgres.primary
            await world.cluster.postgres.standby.stop(signal.SIGQUIT)
            waiting = (
                "select pid from pg_stat_activity where wait_event = 'SyncRep'"
                " and starts_with(application_name, 'committer')"
            )

            async def is_waiting():
                return await primary.rows(waiting)

            await eventually("a COMMIT waits for the standby", is_waiting)
            before = world.counts["acks"]
            [(written,)] = await primary.rows("select count(*) from commit_log")
            cancelled = 0
            for _ in range(8):
                cancelled += len(await primary.rows(f"select pg_cancel_backend(pid) from ({waiting}) as w"))
                await asyncio.sleep(0.2)
            rows = await primary.rows("select count(*) from commit_log")
            assert cancelled > 0
            assert world.counts["acks"] == before, "acknowledged although no standby has it"
            assert rows[0][0] > written, "nothing was written that could have been taken for committed"
            world.cluster.postgres.start_standby()
            await acknowledged(world, 40)
            await counted(world, "committer", "unknown_outcomes_total", '"written"')

    row.run(play())


def test_a_lost_reply_is_found_again(row):
    """COMMIT succeeds, the answer disappears, and the connection looks alive: only the request's deadline tells. The other
    connections, idle as there is one room only, look alive as well."""

    async def play():
        async with row.world(apps=10, counts={"committer": 1}) as world:
            await acknowledged(world, 20)
            proxies = world.cluster.between(source="committer", target="postgres")
            async with world.open_transactions() as pids:
                assert pids
                for proxy in proxies:
                    proxy.ways[DOWN].is_swallowed = True
            before = world.counts["acks"]
            await asyncio.sleep(1)
            assert world.counts["acks"] == before
            # New connections are well; the old ones stay deaf, as nobody cuts them.
            for proxy in proxies:
                for way in proxy.ways:
                    way.clear()
                for pipe in proxy.pipes:
                    pipe.deafen()
            await acknowledged(world, 40, within=40)
            # What was written was found, not repeated; and before the commits' own deadline.
            await counted(world, "committer", "batches_total", '"lost"')
            assert world.counts["refused.unavailable"] == 0, "a lost answer cost a commit its deadline"

            async def is_found():
                return await metric(world, "committer", "commits_total", '"duplicate"') > 0

            await eventually("a commit that was written is found", is_found)

    row.run(play())


def test_a_committer_that_cannot_reach_the_database_is_spared(row):
    """One of two is cut off from the database: the other one gets its shards, and gives them back."""

    async def play():
        async with row.world() as world:
            await acknowledged(world, 20)
            cut_off = world.cluster.daemons["committer-1"]
            proxies = world.cluster.between(source=cut_off.name, target="postgres")
            for proxy in proxies:
                for way in proxy.ways:
                    way.is_held = True
                proxy.cut()
            world.outages.begin()
            await asyncio.sleep(8)
            world.outages.look()
            assert world.outages.longest_room < 5, "its rooms waited for it"
            assert cut_off.starts == 1
            for proxy in proxies:
                proxy.heal()

            async def applied():
                metrics = await world.cluster.metrics(cut_off)
                return metrics.get('touchsync_committer_commits_total{outcome="applied"}', 0)

            before = await applied()

            async def serves():
                return await applied() > before

            await eventually("it has shards again", serves)

    row.run(play())


def test_the_old_primary_comes_back(row):
    """A standby is promoted while the old primary still runs; later the old one takes writes again, without its
    standby. Nobody who has seen the new one goes back."""

    async def play():
        async with row.world() as world:
            await acknowledged(world, 20)
            pair = world.cluster.postgres
            old, new = pair.primary, pair.standby
            await new.run("pg_ctl", "promote", "--pgdata", new.data, "--timeout=60")
            pair.primary, pair.standby = new, old
            # What the old one still takes waits for a standby that has left it.
            await asyncio.sleep(1)
            await old.stop(signal.SIGQUIT)
            new.set_late(synchronous_standby_names="")
            pair.has_standby = False
            await acknowledged(world, 40, within=30)

            async def is_seen():
                seen = await new.rows(
                    "select count(distinct application_name) from pg_stat_activity"
                    " where starts_with(application_name, 'fanout')"
                )
                return seen == [(2,)]

            # One that was not there yet has nothing to tell the old one by.
            await eventually("both fan-outs have seen the new one", is_seen)
            old.set_late(synchronous_standby_names="")
            old.start()
            await old.answers()
            behind = await old.rows("select count(*) from commit_log")
            for _ in range(3):
                await new.rows(
                    "select pg_terminate_backend(pid) from pg_stat_activity"
                    " where starts_with(application_name, 'committer') or starts_with(application_name, 'fanout')"
                )
                await acknowledged(world, 20)
            assert await old.rows("select count(*) from commit_log") == behind, "the old primary took a commit"

    row.run(play())


async def _everybody_starts_anew(world, epochs):
    """Waits until every app was told of another history."""
    told = "every app is told of another history"
    assert await world.until(told, lambda: all(app.is_joined and app.epoch not in epochs for app in world.apps), 20)


async def _all_have_committed(world):
    committed = "every app has committed"
    assert await world.until(committed, lambda: all(app.n > len(app.pending) for app in world.apps), 30)


@pytest.mark.parametrize("is_known", [True, False], ids=["asynchronous for long", "asynchronous since a moment ago"])
def test_an_asynchronous_standby_takes_over_without_everything(row, is_known):
    """What it never got is lost, although it was acknowledged. Nobody is left with it: every app takes its rooms anew.

    That a failover may have lost something is known beforehand (a committer noted that commits wait for nobody), or is
    found by fan-outs that have seen what is not there any more.
    """

    async def play():
        async with row.world() as world:
            await _all_have_committed(world)
            pair = world.cluster.postgres
            old, new = pair.primary, pair.standby
            pair.has_standby = False
            old.set_late(synchronous_standby_names="")
            if is_known:
                await old.rows(
                    "select pg_terminate_backend(pid) from pg_stat_activity"
                    " where starts_with(application_name, 'committer')"
                )

                async def is_noted():
                    return await new.rows("select 1 from history where not synchronous")

                await eventually("the standby knows that commits do not wait for it", is_noted)
            await acknowledged(world, 20)
            await new.stop(signal.SIGINT)
            kept = await old.rows("select count(*) from commit_log")
            await acknowledged(world, 40)
            await world.calm()
            written = await old.rows("select count(*) from commit_log")
            assert written > kept
            epochs = {app.epoch for app in world.apps}
            await old.stop(signal.SIGKILL)
            new.set_late(synchronous_standby_names="")
            new.start()
            await new.answers()
            await new.run("pg_ctl", "promote", "--pgdata", new.data, "--timeout=60")
            pair.primary, pair.standby = new, old
            await _everybody_starts_anew(world, epochs)
            assert await new.rows("select count(*) from commit_log") < written
            await counted(world, "committer", "history_changes_total")
            await world.begin_anew()
            await acknowledged(world, 40)

    row.run(play())


def test_an_older_backup_is_restored(row):
    """The cluster is lost and made anew from a dump; daemons that knew the old one are restarted."""

    async def play():
        async with row.world() as world:
            await _all_have_committed(world)
            await world.calm()
            pair = world.cluster.postgres
            server, dump = pair.primary, pair.primary.folder / "dump"
            await server.run("pg_dump", "--format=custom", f"--file={dump}", "--dbname", server.dsn())
            world.is_calm = False
            await acknowledged(world, 40)
            await world.calm()
            epochs = {app.epoch for app in world.apps}
            pair.has_standby = False
            await pair.standby.stop(signal.SIGQUIT)
            await server.stop(signal.SIGKILL)
            shutil.rmtree(server.data)
            await server.create()
            server.start()
            await server.answers()
            await server.rows("create database touchsync", database="postgres")
            await server.run("pg_restore", "--exit-on-error", "--dbname", server.dsn(), dump)
            for daemon in world.cluster.of("committer") + world.cluster.of("fanout"):
                daemon.send(signal.SIGTERM)
            await _everybody_starts_anew(world, epochs)
            await world.begin_anew()
            await acknowledged(world, 40)
            # Apps are back before the last daemon is.
            await world.cluster.is_ready()

    row.run(play())


def test_a_day_of_the_log_goes_while_readers_are_behind(row):
    """Fan-outs stand still and apps are away while commits go on; what they missed is dropped from the log before they
    can read it. They get rooms whole, never a part."""

    async def play():
        async with row.world() as world:
            await acknowledged(world, 40)
            # Joins wait for the fan-outs, each for as long as the gateway allows: two in a row longer than an app does. None
            # may be under way.
            world.may_leave = False
            await world.calm()
            world.is_calm = False
            for daemon in world.cluster.of("fanout"):
                daemon.send(signal.SIGSTOP)
            since = time.monotonic()
            await acknowledged(world, 20)
            # Who is cut off with something in hand has no answer before the fan-outs go on.
            await world.calm()
            # The apps of one gateway are cut off and come back; those of the other hear nothing, but stay.
            cut, *held = world.cluster.between(source="app")
            for proxy in (cut, *held):
                for way in proxy.ways:
                    way.is_held = True
            cut.cut()
            assert held, "nobody stays"
            # Longer than silence is borne: what was sent to them meanwhile is not believed any more.
            await asyncio.sleep(max(0, 4 - (time.monotonic() - since)))
            primary = world.cluster.postgres.primary
            seqs = dict(await primary.rows("select room_id, seq from rooms"))
            while (await primary.rows("select maintain_log(7, clock_timestamp() + interval '14 days')"))[0][0]:
                pass
            assert await primary.rows("select count(*) from commit_log") == [(0,)]
            world.history.floors = seqs
            for daemon in world.cluster.of("fanout"):
                daemon.send(signal.SIGCONT)
            world.cluster.heal()
            resyncs = world.counts["resyncs"]
            world.is_calm = False
            world.may_leave = True
            await acknowledged(world, 40)
            assert world.counts["resyncs"] > resyncs, "nobody was told"
            await counted(world, "fanout", "resyncs_total")

    row.run(play())


@pytest.fixture
def small_disk(row):
    """A file system of 80 MB; needs root and the right to mount."""
    folder = row.folder / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=80m,mode=0777", "touchsync-chaos", str(folder)]
    mounted = subprocess.run(command, capture_output=True, text=True)
    assert mounted.returncode == 0, f"THIS ROW NEEDS THE RIGHT TO MOUNT A TMPFS: {mounted.stderr}"
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk(row, small_disk):
    """Nothing is acknowledged while there is no room to write; when there is again, everything goes on."""

    async def play():
        settings = {"data": small_disk / "data", "standby": False}
        async with row.world(**settings) as world:
            await acknowledged(world, 20)
            primary = world.cluster.postgres.primary
            ballast = small_disk / "ballast"
            _fill(ballast)
            # The log's present segment has room left; it is closed, so that a new one is needed.
            with contextlib.suppress(psycopg.Error):
                await primary.rows("select pg_switch_wal()")
            # Others give space back now and then: it is full when nothing was written for a while.
            before, since, end = world.counts["acks"], time.monotonic(), time.monotonic() + 30
            while time.monotonic() - since < 4:
                assert time.monotonic() < end, "the disk was never full"
                _fill(ballast)
                if world.counts["acks"] != before:
                    before, since = world.counts["acks"], time.monotonic()
                await asyncio.sleep(0.2)
            assert all(daemon.pid for daemon in world.cluster.daemons.values())
            ballast.unlink()
            if not primary.is_running:
                primary.start()
            await acknowledged(world, 40, within=40)

    row.run(play())


def _fill(path):
    """Takes all that is left of a file system."""
    with contextlib.suppress(OSError), open(path, "ab", buffering=0) as ballast:
        while True:
            ballast.write(bytes(65536))
    with contextlib.suppress(OSError), open(path, "ab", buffering=0) as ballast:
        while True:
            ballast.write(bytes(64))


def test_the_database_comes_last(row):
    """Every daemon is started before its neighbours and before PostgreSQL; nobody needs a hand."""

    async def play():
        order = ["gateway", "fanout", "coalescer", "committer", "postgres"]
        async with row.world(order=order) as world:
            await acknowledged(world, 40)

    row.run(play())
