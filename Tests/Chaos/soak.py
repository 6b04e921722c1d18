"""Runs the whole pipeline while people come and go, and judges whether anything grows.

    run.sh FOLDER soak [--minutes N] [--seats N] [--pause N] [--seed N] [--keep]

Days pass quickly: all daemons and PostgreSQL have a clock that the run sets forward, so that days of the log are dropped
and sessions end as the settings say.
"""

import argparse
import asyncio
import contextlib
import pathlib
import struct
import subprocess
import sys
import time

import psycopg
import uvloop

from churn import Churn
from cluster import Cluster, temporary_folder
from daemons import STAGES
from growth import Growth, family, size_of, usage
from history import Forgotten
from postgres import Pair
from world import World

# Of the run: until then caches, pools and tables fill.
WARM_UP = 0.4
# How many days pass in a run.
DAYS = 8
DAY = 86400
# How often committers care for tables, in seconds.
UPKEEP = 300
LOG_DAYS, SESSION_DAYS = 1, 2
# What committers make ahead, today, the days that are kept, one that is about to be dropped, and the one for other days.
MOST_PARTITIONS = 3 + 1 + LOG_DAYS + 1 + 1
# Small enough that everything is full when the warm-up is over.
SETTINGS = {
    "committer": {"commit-log-retention-days": LOG_DAYS, "session-retention-days": SESSION_DAYS},
}
SERVER = {
    "shared_buffers": "16MB", "wal_keep_size": "0", "min_wal_size": "32MB", "max_wal_size": "64MB",
    "checkpoint_timeout": "30s", "autovacuum_naptime": "5s",
}
STATE_TABLES = ("sessions", "refusals", "undo_stacks")


class Clock:
    """The wall clock of all processes of a run."""

    def __init__(self, folder):
        library = folder / "clock.so"
        source = pathlib.Path(__file__).parent / "clock.c"
        subprocess.run(["clang", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
        self.path = folder / "clock"
        self.path.write_bytes(bytes(8))
        self.environment = {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(self.path)}
        self.prefix = ["env", *(f"{name}={value}" for name, value in self.environment.items())]
        self.days = 0

    def next_day(self):
        """It is the same time of the next day."""
        self.days += 1
        with open(self.path, "r+b") as file:
            file.write(struct.pack("<q", self.days * DAY))


class Soak:
    """One run: who comes, what the time is, what everything takes."""

    def __init__(self, world, clock, options):
        self.world = world
        self.cluster = world.cluster
        self.clock = clock
        self.seconds = options.minutes * 60
        self.day = self.seconds / DAYS
        # A session ends with the upkeep after the last of its days.
        self.churn = Churn(world, options.seats, options.seed, (SESSION_DAYS + 1.5) * self.day)
        self.growth = Growth()
        self.bad = []
        self.most_partitions = 0
        self.most_log = self.most_of_a_day = 0
        self.began = time.monotonic()

    @property
    def age(self):
        return time.monotonic() - self.began

    async def run(self):
        self.churn.start()
        pause = min(5.0, max(1.0, self.seconds / 300))
        told = 0
        while self.age < self.seconds:
            if self.age > (self.clock.days + 1) * self.day:
                await self._pass_a_day()
            await self._sample()
            self.churn.look()
            if self.age > told * 60:
                told += 1
                print(f"soak: {self.age / 60:4.1f} min, day {self.clock.days}, {self.churn.visits} visits, "
                      f"{self.churn.rooms} rooms, {self.world.counts['acks']} commits", flush=True)
            await asyncio.sleep(pause)
        await self.churn.stop()

    async def _pass_a_day(self):
        """In short runs days are over before committers look again: we do what they would."""
        self.clock.next_day()
        if self.day > UPKEEP:
            return
        primary = self.cluster.postgres.primary
        while await self._keeps_log(primary):
            pass
        while (await primary.rows(f"select sweep_sessions({SESSION_DAYS}, {LOG_DAYS})"))[0][0]:
            pass

    async def _keeps_log(self, primary):
        """One step; true while there are more. A day that somebody reads is dropped later, as by committers."""
        with contextlib.suppress(psycopg.errors.LockNotAvailable):
            return (await primary.rows(f"select keep_log({LOG_DAYS})"))[0][0]
        return True

    async def _sample(self):
        now = self.age
        add = self.growth.add
        server = self.cluster.postgres.primary
        for daemon in self.cluster.daemons.values():
            self._of_process(daemon.name, [daemon.pid], now)
            add(daemon.name, "log", now, daemon.log.stat().st_size)
        self._of_process("postgresql", family(server.process.pid), now)
        add("postgresql", "log", now, server.log.stat().st_size)
        add("WAL", "disk", now, size_of(server.data / "pg_wal"))
        for table in STATE_TABLES:
            (count, size), = await server.rows(f"select count(*), pg_total_relation_size('{table}') from {table}")
            add(table, "rows", now, count)
            add(table, "disk", now, size)
        (count, size), = await server.rows("select count(*), pg_total_relation_size('elements') from elements")
        add("elements", "bytes a row", now, size / max(count, 1))
        await self._sample_log(server, now)

    def _of_process(self, name, pids, now):
        """One that ends meanwhile, as a server process of PostgreSQL does, is left out this time."""
        if None not in pids and (used := usage(pids)):
            for kind, value in zip(("memory", "descriptors", "threads"), used):
                self.growth.add(name, kind, now, value)

    async def _sample_log(self, server, now):
        sizes = await server.rows(
            "select pg_total_relation_size(inhrelid) from pg_inherits where inhparent = 'commit_log'::regclass")
        total = sum(size for size, in sizes)
        self.growth.add("commit_log", "days", now, total)
        self.most_of_a_day = max(self.most_of_a_day, *(size for size, in sizes))
        if now >= self.seconds * WARM_UP:
            self.most_partitions = max(self.most_partitions, len(sizes))
            self.most_log = max(self.most_log, total)

    def show(self):
        """Prints the report; false when something grows, or nothing was proven."""
        lines, self.bad = self.growth.table(self.seconds * WARM_UP)
        print("\n" + "\n".join(lines))
        counts = self.world.counts
        print(f"\n{self.churn.visits} visits, {self.churn.returns} of them returns, {self.churn.rooms} rooms made and "
              f"abandoned, {counts['acks']} commits, {counts['sessions expired']} expired sessions noticed, "
              f"{self.clock.days} days; at most {self.most_partitions} partitions of the log")
        self.bad += self.world.violations
        self.bad += [crash for daemon in self.cluster.daemons.values() for crash in daemon.crashes]
        if self.most_partitions > MOST_PARTITIONS:
            self.bad.append(f"{self.most_partitions} partitions of the log, not {MOST_PARTITIONS}")
        # The days that are kept, today, and one that is about to be dropped.
        if self.most_log > (LOG_DAYS + 2) * self.most_of_a_day:
            self.bad.append(f"the log takes {self.most_log} bytes, its largest day {self.most_of_a_day}")
        needed = {"commits": counts["acks"], "rooms": self.churn.rooms, "returns": self.churn.returns,
                  "expired sessions": counts["sessions expired"]}
        self.bad += [f"MISSING: no {name}" for name, count in needed.items() if not count]
        for text in self.bad:
            print(f"VIOLATION: {text}")
        return not self.bad


def arguments():
    parser = argparse.ArgumentParser(prog="run.sh FOLDER soak", description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=60, help="default 60")
    parser.add_argument("--seats", type=int, default=60, help="people at a time; default 60")
    parser.add_argument("--pause", type=float, default=1.0, help="mean seconds between two actions of one; default 1")
    parser.add_argument("--seed", type=int, default=1, help="decides who goes where")
    parser.add_argument("--keep", action="store_true", help="leave logs and data where they are")
    return parser.parse_args()


async def run(folder, options):
    clock = Clock(folder)
    pair = Pair(folder, has_standby=False, **SERVER)
    pair.primary.environment = clock.environment
    cluster = Cluster(folder, settings=SETTINGS, prefixes={stage: clock.prefix for stage in STAGES}, postgres=pair)
    try:
        await cluster.start()
        soak = Soak(World(cluster, Forgotten(), options.seed, 0, options.pause), clock, options)
        await soak.run()
        return soak.show()
    finally:
        await cluster.stop()


def main():
    options = arguments()
    with temporary_folder(keeps=options.keep) as folder:
        ok = uvloop.run(run(folder, options))
        if options.keep:
            print(f"soak: everything is left in {folder}")
    print(f"soak: {'passed' if ok else 'FAILED'}, {options.minutes:g} min, seed {options.seed}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
