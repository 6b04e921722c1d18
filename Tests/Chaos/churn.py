"""People who come and go: to rooms that are always there, to new ones that are soon abandoned, and back."""

import asyncio
import collections
import contextlib
import random
import time

from client import App

# Rooms that somebody is always in, and after how many visits others take their place: everybody adds to a room, and a
# fan-out's memory is to be that of the same number of rooms of the same size.
STANDING, STANDS = 6, 600
# How long somebody stays, in seconds, on average.
STAY = 12.0
# Those who left and may come back, with the session that they had.
MOST_ABSENT = 400
# Those who come back when their session has ended.
MOST_AWAY_FOR_LONG = 40


class Visitor(App):
    """Somebody who stays for a while. A session that ended while they were away is no loss: they left with an answer to
    everything."""

    def _join_answered(self, answer):
        if not answer["ok"] and answer["error"]["code"] == "session_expired":
            self.world.counts["sessions expired"] += 1
            self.joining = None
            for commit in self.pending.values():
                self.world.settled(commit, self.room)
            self.begin()
            return self.changed.set()
        super()._join_answered(answer)

    async def visit(self, seconds):
        """Comes, stays, and leaves with an answer to everything; false when that took too long."""
        self.is_stopping = False
        life = asyncio.get_running_loop().create_task(self.run())
        try:
            await asyncio.wait([life], timeout=seconds)
            self.is_stopping = True
            await asyncio.wait([life], timeout=60)
            if not life.done():
                self.world.violation(f"{self.name} did not get away from {self.room}: {len(self.pending)} commits wait")
                return False
            life.result()
            return True
        finally:
            # A wait that ends in the same moment swallows the first one.
            while not life.done():
                life.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait([life], timeout=0.5)
            if self.line:
                self.line.close()
            self.line = None


class Churn:
    """As many visitors at a time as there are seats; `lifetime` is how long a session without a commit lasts, in seconds."""

    def __init__(self, world, seats, seed, lifetime):
        self.world = world
        self.random = random.Random(seed)
        self.seats = seats
        self.visits = self.rooms = self.returns = 0
        self.lifetime = lifetime
        self.absent = []
        # The others, with the time at which they left.
        self.away_for_long = collections.deque()
        self.tasks = []

    def start(self):
        """Takes all seats."""
        loop = asyncio.get_running_loop()
        self.tasks = [loop.create_task(self._sit(seat)) for seat in range(self.seats)]

    async def _sit(self, seat):
        while True:
            visitor = self._next(seat)
            self.visits += 1
            if await visitor.visit(self.random.expovariate(1 / STAY)):
                self._left(visitor)

    def _left(self, visitor):
        if len(self.away_for_long) < MOST_AWAY_FOR_LONG:
            return self.away_for_long.append((time.monotonic(), visitor))
        self.absent.append(visitor)
        if len(self.absent) > MOST_ABSENT:
            self.absent.pop(self.random.randrange(len(self.absent)))

    def _next(self, seat):
        """Half of them go to a standing room. The others make a new one, or come back to where they were."""
        dice = self.random.random()
        if self.away_for_long and time.monotonic() > self.away_for_long[0][0] + self.lifetime:
            self.returns += 1
            return self.away_for_long.popleft()[1]
        if dice < 0.25 and self.absent:
            self.returns += 1
            return self.absent.pop(self.random.randrange(len(self.absent)))
        if dice < 0.5:
            self.rooms += 1
            room = f"visit-{self.rooms}"
        else:
            room = f"room-{self.random.randrange(STANDING)}-{self.visits // STANDS}"
        name = f"v{seat}-{self.visits}"
        return Visitor(name, room, self.world, name, through_proxy=False)

    def look(self):
        """Raises what ended a seat."""
        for task in self.tasks:
            if task.done():
                task.result()

    async def stop(self):
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
