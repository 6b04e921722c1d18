"""Faults of PostgreSQL and of the way to it."""

import asyncio
import contextlib
import os
import signal

import psycopg

from faults import Fault
from proxy import DOWN, UP

COMMITTING = "state = 'active' and position('commit_batch' in query) > 0 and backend_type = 'client backend'"


class KillBackend(Fault):
    """One server process dies in the midst of a transaction: PostgreSQL throws all out and recovers."""

    name = "kill-backend"
    is_main = True

    async def strike(self, world):
        async with world.open_transactions() as pids:
            if not pids:
                rows = await world.cluster.postgres.primary.rows(
                    "select pid from pg_stat_activity where starts_with(application_name, 'committer')"
                )
                pids = [pid for (pid,) in rows]
            if pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(world.random.choice(pids), signal.SIGKILL)


class StopDatabase(Fault):
    """The server stops at once, stays away for a while and recovers."""

    name = "stop-database"
    is_main = True

    async def strike(self, world):
        async with world.open_transactions():
            await world.cluster.postgres.primary.stop(signal.SIGQUIT)
        await asyncio.sleep(world.random.uniform(0.5, 4))
        world.cluster.postgres.start_primary()


class Failover(Fault):
    """The primary is lost for good; the synchronous standby takes over, and gets a standby of its own."""

    name = "failover"
    is_main = True

    async def strike(self, world):
        async with world.open_transactions():
            await world.cluster.postgres.fail_over()
        await world.cluster.postgres.build_standby()


class StandbyLost(Fault):
    """No COMMIT is confirmed while the standby is away."""

    name = "standby-lost"

    async def strike(self, world):
        await world.cluster.postgres.standby.stop(signal.SIGQUIT)
        await asyncio.sleep(world.random.uniform(1, 4))
        await self.interfere(world)
        world.cluster.postgres.start_standby()

    async def interfere(self, world):
        """Something to make it worse."""


class CommitCancelled(StandbyLost):
    """While it is away an operator cancels the waiting COMMITs: they look like successes but for a warning."""

    name = "commit-cancelled"

    async def interfere(self, world):
        for _ in range(3):
            rows = await world.cluster.postgres.primary.rows(
                "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'"
                " and starts_with(application_name, 'committer')"
            )
            world.counts["commits cancelled"] += len(rows)
            if rows:
                world.counts["faults.open-transaction"] += 1
            await asyncio.sleep(0.3)


class Terminate(Fault):
    """An operator ends all connections of the daemons."""

    name = "terminate-connections"

    async def strike(self, world):
        async with world.open_transactions():
            await world.cluster.postgres.primary.rows(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where starts_with(application_name, 'committer') or starts_with(application_name, 'fanout')"
            )


class ReplyLost(Fault):
    """COMMIT succeeds and nobody hears of it: the answers disappear, then the connection ends."""

    name = "reply-lost"
    is_main = True

    async def strike(self, world):
        victim = world.random.choice(world.cluster.behind_proxies("committer"))
        proxies = world.cluster.between(source=victim.name, target="postgres")
        async with world.open_transactions(victim.name):
            for proxy in proxies:
                proxy.ways[DOWN].is_swallowed = True
        await asyncio.sleep(0.7)
        for proxy in proxies:
            proxy.cut()


class DatabaseCutAfter(Fault):
    """The daemons' connections to PostgreSQL end after so many bytes."""

    name = "database-cut-after"
    is_small = True

    async def strike(self, world):
        for _ in range(3):
            for proxy in world.cluster.between(target="postgres"):
                proxy.ways[world.random.choice((UP, DOWN))].cut_after = world.random.randint(1, 20000)
            await asyncio.sleep(0.7)


class CommitterCutOff(Fault):
    """One of two committers cannot reach the database for a while; the other one can."""

    name = "committer-cut-off"
    kills = True

    async def strike(self, world):
        victim = world.random.choice(world.cluster.behind_proxies("committer"))
        proxies = world.cluster.between(source=victim.name, target="postgres")
        async with world.open_transactions(victim.name):
            for proxy in proxies:
                for way in proxy.ways:
                    way.is_held = True
                proxy.cut()
        await asyncio.sleep(world.random.uniform(1, 5))


class DatabaseDelay(Fault):
    """The database is slow to answer."""

    name = "database-delay"
    is_main = True
    is_small = True

    async def strike(self, world):
        for proxy in world.cluster.between(target="postgres"):
            proxy.ways[DOWN].delay = world.random.uniform(0.05, 0.5)
        await asyncio.sleep(3)


class LockHeld(Fault):
    """Somebody holds the shards' rows for longer than a statement may wait."""

    name = "lock-held"

    async def strike(self, world):
        with contextlib.suppress(psycopg.Error):
            async with world.open_transactions():
                await asyncio.sleep(3)


DATABASE = [
    KillBackend(), StopDatabase(), Failover(), StandbyLost(), CommitCancelled(), Terminate(), ReplyLost(),
    CommitterCutOff(), DatabaseCutAfter(), DatabaseDelay(), LockHeld(),
]
