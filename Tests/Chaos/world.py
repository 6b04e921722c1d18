"""One run: the cluster, the apps, and all that is known of both."""

import asyncio
import collections
import contextlib
import random
import time

import psycopg

from client import App
from client_process import COMMANDS
from database_faults import COMMITTING
from follower import Follower
from history import Forgotten
from looks import Looks
from old import OldApp
from people import People
from slow import Slow
from watch import Figures, Outages

# Members of a room, all told.
ROOM = 10


class World:
    """What faults strike and apps live in."""

    def __init__(self, cluster, history, seed, clients, pause, slow_joiners=0, people=0, followers=False):
        self.cluster = cluster
        self.history = history
        self.random = random.Random(seed)
        # Mean seconds between two actions of one app.
        self.pause = pause
        self.counts = collections.Counter()
        self.violations = []
        self.outages = Outages()
        self.figures = Figures(cluster)
        # Who is behind a public session name, and each commit's first acknowledged number.
        self.people = {}
        self.firsts = {}
        self.moves = 0
        # Nobody begins anything new.
        self.is_calm = False
        # Apps leave their rooms, and join again.
        self.may_leave = True
        self.apps = [
            App(f"c{index}", f"room-{index // ROOM}", self, f"{seed}/{index}", through_proxy=index % 4 == 0)
            for index in range(clients)
        ]
        # One of the 1.0 contract in each room.
        self.old = [
            OldApp(f"old{index}", room, self, f"{seed}/old/{index}", through_proxy=index % 4 == 0)
            for index, room in enumerate(sorted({app.room for app in self.apps}))
        ]
        # A back end for each, if wanted.
        self.followers = [
            Follower(f"reader{index}", app.room, self, f"{seed}/reader/{index}", through_proxy=False)
            for index, app in enumerate(self.old if followers else [])
        ]
        self.persons = People(self, people, COMMANDS, seed)
        # Those whose requests the history does not hold, or whose sessions nobody knows.
        self.old_users = {app.user for app in self.old}
        history.unrecorded = set(self.persons.users)
        self.slow = Slow(self, slow_joiners, seed)
        self.apps += self.slow.writers
        self.looks = Looks(self)
        self.lives = []

    def violation(self, text):
        self.counts["violations"] += 1
        if len(self.violations) < 20:
            self.violations.append(text)

    # The apps' commits

    def invoked(self, room):
        self.outages.invoked(room)

    def acknowledged(self, commit, room):
        self.counts["acks"] += 1
        seconds = asyncio.get_running_loop().time() - commit.invoked
        self.outages.answered(room, seconds)
        self.outages.took(commit, seconds)

    def settled(self, commit, room):
        self.outages.answered(room)

    # The course of a run

    async def populate(self, within=40):
        """All apps in their rooms."""
        self.lives = [asyncio.get_running_loop().create_task(app.run()) for app in self.apps + self.old + self.followers]
        await self.until("all apps are in their rooms", lambda: all(app.is_joined for app in self.apps), within)
        self.figures.start()
        await self.slow.begin()
        await self.persons.begin()

    async def until(self, what, condition, within):
        """Waits for a condition; a violation when it does not come true."""
        end = time.monotonic() + within
        while time.monotonic() < end:
            self.outages.look()
            for life in self.lives:
                if life.done() and not life.cancelled() and life.exception():
                    raise life.exception()
            if condition():
                return True
            await asyncio.sleep(0.05)
        self.violation(f"not within {within} s: {what}")
        return False

    async def recovers(self, within=40):
        """Everything is in order again: the database, all daemons, and every room that had something to commit."""
        with contextlib.suppress(psycopg.Error):
            await self.cluster.postgres.primary.answers()
            await self.cluster.postgres.is_synchronous()
        moment = time.monotonic()
        await self.until("every room goes on", lambda: not self.outages.behind(moment), within)
        try:
            await self.cluster.is_ready(within)
        except AssertionError as error:
            self.violation(str(error))

    async def calm(self, within=20):
        """Nobody begins anything new, and all that was begun has its end."""
        self.is_calm = True
        # Not those of old apps: they ask as soon as they are connected, and are answered once they are in the room, which
        # may take until a fault is over.
        await self.until("every request has its answer", lambda: self._are_answered(self.apps), within)
        # Fingers that were down lift.
        await asyncio.sleep(0.5)

    @staticmethod
    def _are_answered(apps):
        return not any(app.pending or app.asked for app in apps)

    async def begin_anew(self):
        """What the database holds by now is where the judged history begins: what was told before is gone, or cannot be
        looked up any more. Everybody opens the app again. Call it when all is calm."""
        floors = dict(await self.cluster.postgres.primary.rows("select room_id, seq from rooms"))
        for app in self.apps + self.old + self.followers:
            app.die()
        self.history.begin_anew(floors)
        self.is_calm = False

    async def settle(self, looks=False):
        """After the last fault: everybody gets an answer to everything, and sees the same; if `looks`, also what others
        point at, select and move."""
        healed = time.monotonic()
        await asyncio.sleep(2)
        await self.persons.settle()
        await self.slow.end()
        everybody = self.apps + self.old
        if looks:
            await self.calm()
            await self.until("everybody is in the room", lambda: all(app.is_joined for app in everybody), 10)
            await self.looks.play(healed)
        for app in everybody:
            app.is_stopping = True
        await self.until("every request has its answer", lambda: self._are_answered(everybody), 15)
        await self.until("everybody is in the room", lambda: all(app.is_joined for app in everybody), 10)
        rooms = dict(await self.cluster.postgres.primary.rows("select room_id, seq from rooms"))
        await self.until(
            "everybody is where the room is",
            lambda: all(app.seq == rooms.get(app.room, 0) for app in self.apps + self.followers), 15
        )
        await self._each_room_is_held_once()

    async def _each_room_is_held_once(self, within=10):
        """A room that two fan-outs hold for members costs both, and its previews come in two orders."""
        wanted = len({app.room for app in self.apps})
        for _ in range(within * 2):
            figures = [await self.cluster.metrics(daemon) for daemon in self.cluster.of("fanout")]
            held = int(sum(figure.get("touchsync_fanout_rooms", 0) for figure in figures))
            if held == wanted:
                return
            await asyncio.sleep(0.5)
        self.violation(f"fan-outs hold {held} rooms for the members of {wanted}: {await self.cluster.held_twice()}")

    async def leave(self):
        """Ends the apps; what they see from now on is nobody's business."""
        self.figures.stop()
        everybody = self.apps + self.old + self.followers + self.slow.joiners + self.looks.witnesses
        for app in everybody:
            app.history = Forgotten()
        for life in self.lives:
            life.cancel()
        await asyncio.gather(*self.lives, return_exceptions=True)
        for app in everybody:
            if app.line:
                app.line.close()

    # For faults

    def some_links(self):
        """The proxies on all ways between one daemon and its neighbours, or on the way between two."""
        links = [key for key, proxy in self.cluster.proxies.items() if proxy.may_repeat]
        if self.random.random() < 0.5:
            return [self.cluster.proxies[self.random.choice(links)]]
        name = self.random.choice(list(self.cluster.daemons))
        return [self.cluster.proxies[key] for key in links if key[0] == name or key[1].startswith(name)]

    @contextlib.asynccontextmanager
    async def open_transactions(self, committer="committer", within=1.0):
        """Makes sure that what is done inside hits a transaction: holds the shards' rows until one waits for them.

        Yields the server processes that carry one. What waits goes on when the block ends.
        """
        try:
            holder = await psycopg.AsyncConnection.connect(
                self.cluster.postgres.primary.dsn(name="holder"), connect_timeout=2
            )
        except psycopg.Error:
            yield []
            return
        try:
            pids = await self._await_transaction(holder, committer, within)
            if pids:
                self.counts["faults.open-transaction"] += 1
            yield pids
        finally:
            with contextlib.suppress(psycopg.Error):
                await holder.rollback()
            with contextlib.suppress(psycopg.Error):
                await holder.close()

    async def _await_transaction(self, holder, committer, within):
        query = f"select pid from pg_stat_activity where {COMMITTING} and wait_event_type = 'Lock'"
        query += " and starts_with(application_name, %s)"
        end = time.monotonic() + within
        with contextlib.suppress(psycopg.Error):
            await holder.execute("set lock_timeout = '2s'")
            await holder.execute("select 1 from shards for update")
            while time.monotonic() < end:
                rows = await self.cluster.postgres.primary.rows(query, committer)
                if rows:
                    return [pid for (pid,) in rows]
                await asyncio.sleep(0.02)
        return []
