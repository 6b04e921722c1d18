"""Eyes on the run: how long nobody was answered, what the daemons count, how much they take."""

import asyncio
import collections
import time

MEGABYTE = 1 << 20


class Outages:
    """The longest times without an acknowledgement while commits waited for one: of a room, and of all together."""

    def __init__(self):
        self.waiting = collections.Counter()
        self.since = {}
        self.longest_room = self.longest_all = self.slowest = self.slowest_elsewhere = 0.0
        # Addresses of gateways that a fault cuts off.
        self.cut_off = set()
        # When the window began.
        self.began = 0.0
        self.count = 0

    def invoked(self, room):
        now = time.monotonic()
        for place in (room, None):
            if self.waiting[place] == 0:
                self.since[place] = now
            self.waiting[place] += 1

    def answered(self, room, took=0.0):
        self.look()
        self.slowest = max(self.slowest, took)
        self.count += 1
        now = time.monotonic()
        for place in (room, None):
            self.waiting[place] -= 1
            self.since[place] = now

    def took(self, commit, seconds):
        """A commit was acknowledged. What counts elsewhere began in this window, and went through one gateway all the time,
        and none that is cut off."""
        if time.monotonic() - seconds < self.began:
            return
        if commit.line is commit.first_line and commit.line.address not in self.cut_off:
            self.slowest_elsewhere = max(self.slowest_elsewhere, seconds)

    def look(self):
        now = time.monotonic()
        for place, since in self.since.items():
            if self.waiting[place] > 0:
                if place is None:
                    self.longest_all = max(self.longest_all, now - since)
                else:
                    self.longest_room = max(self.longest_room, now - since)

    def begin(self):
        """A new window: what waits is counted from its own beginning, what is over is forgotten."""
        self.longest_room = self.longest_all = self.slowest = self.slowest_elsewhere = 0.0
        self.cut_off = set()
        self.began = time.monotonic()

    def behind(self, moment):
        """The rooms that have waited since before that moment."""
        return [
            place for place, since in self.since.items() if place and self.waiting[place] > 0 and since < moment
        ]


class Figures:
    """The daemons' counters summed over all their lives, and their memory and descriptors at the worst."""

    # A daemon's own bound, and what it is allowed on top of it for code, stacks and the allocator.
    BASE = 96 * MEGABYTE

    def __init__(self, cluster):
        self.cluster = cluster
        self.totals = collections.Counter()
        self.last = {}
        self.most = {}
        self.first = {}
        self.task = None

    def start(self):
        self.task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self):
        while True:
            await self.look()
            await asyncio.sleep(0.5)

    async def look(self):
        await asyncio.gather(*(self._look(daemon) for daemon in self.cluster.daemons.values()))

    async def _look(self, daemon):
        used = daemon.resources()
        if used:
            self.most[daemon.name] = tuple(map(max, used, self.most.get(daemon.name, used)))
        life = daemon.starts
        metrics = await self.cluster.metrics(daemon)
        if life != daemon.starts:
            return
        before = self.last.get((daemon.name, life), {})
        for name, value in metrics.items():
            if "_total" in name:
                self.totals[name] += max(0.0, value - before.get(name, 0.0))
        if metrics:
            self.last[daemon.name, life] = metrics

    def total(self, name, label=""):
        """A counter over all daemons and all their lives; what a killed one counted last is missing."""
        return int(sum(value for key, value in self.totals.items() if key.startswith(name) and label in key))

    def bounds(self):
        """What each daemon may take: bytes, descriptors."""
        settings = self.cluster.settings
        memory = {
            "gateway": 64 * MEGABYTE,
            "coalescer": 16 * MEGABYTE,
            "committer": settings["committer"]["cache-bytes"] + 2 * settings["committer"]["queue-bytes"],
            "fanout": settings["fanout"]["memory-bytes"] + 2 * settings["fanout"]["gateway-bytes"],
        }
        return {stage: (self.BASE + size, 700) for stage, size in memory.items()}

    def excesses(self):
        """Who took more than its bound."""
        found = []
        for name, (memory, descriptors) in self.most.items():
            bound = self.bounds()[self.cluster.daemons[name].stage]
            if memory > bound[0] or descriptors > bound[1]:
                found.append(f"{name} took {memory // MEGABYTE} MiB and {descriptors} descriptors, bound {bound}")
        return found

    def stop(self):
        if self.task:
            self.task.cancel()
