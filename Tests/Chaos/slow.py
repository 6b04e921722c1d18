"""A large room, its writer, and people who read it again and again over slow connections."""

import asyncio
import contextlib
import statistics

from client import ANSWER_WITHIN, App
from hand import Hand, stored

ROOM = "large"
# 560 elements of 7 KB are 4 MB.
ELEMENTS = 560
CONTENT = "x" * 7000
# What a run with a large room needs more of: it has to fit on a link twice, and a slow reader misses many updates.
SETTINGS = {"fanout": {"gateway-bytes": 16 << 20, "replay": 64}}


class Writer(App):
    """Makes the large room, and changes it a few times a second."""

    def hand(self):
        return WritersHand(self)

    @property
    def is_made(self):
        return self.is_joined and len(self.elements) >= ELEMENTS and not self.pending


class WritersHand(Hand):
    async def work(self):
        while not self.app.is_stopping:
            missing = [name for name in map("large-{}".format, range(ELEMENTS)) if name not in self.app.elements]
            for name in missing:
                while len(self.app.pending) >= 8 or not self.app.is_joined:
                    await asyncio.sleep(0.01)
                self._make(name)
            await asyncio.sleep(self.random.uniform(0.2, 0.6))
            if not missing and self.app.may_commit:
                name = f"large-{self.random.randrange(ELEMENTS)}"
                payload = {"elementId": name, **self._transform(name)}
                self.app.commit("element:transform", payload, [name], {name: stored(payload)})

    def _make(self, name):
        element, request = self._new("note", name)
        self.app.commit("element:create", {"element": {**element, "content": CONTENT}}, [name], {name: request})


class SlowJoiner(App):
    """Joins the large room over a slow connection, follows it for a few seconds, leaves, and comes again as another. A
    refusal or a lost connection ends a visit."""

    def __init__(self, number, world, seed):
        super().__init__(f"slow{number}", ROOM, world, seed, through_proxy=number % 4 == 0)
        # Half of them.
        self.wants_parts = number % 2 == 1
        self.receive_buffer = 65536
        # Seconds that each read took; and when the last one was complete, by the loop's clock.
        self.reads = []
        self.last_read = 0.0
        self.failures = 0

    def ask_to_join(self, **more):
        super().ask_to_join(**more, **({"parts": True} if self.wants_parts else {}))

    async def run(self):
        while not self.is_stopping:
            # An answer of the whole room must come within the time in which pings are answered.
            self.rate = self.random.uniform(500_000 if self.wants_parts else 1_000_000, 2_000_000)
            if not await self._visit():
                self.failures += 1
            self.die()
            await asyncio.sleep(self.random.uniform(0.2, 1))

    async def _visit(self):
        """One visit; false when it ended early."""
        loop = asyncio.get_running_loop()
        if not await self._connect():
            return False
        began = loop.time()
        if not await self._join():
            return False
        self.last_read = loop.time()
        self.reads.append(self.last_read - began)
        if len(self.elements) < ELEMENTS:
            self.world.violation(f"{self.name} got {len(self.elements)} elements of {ELEMENTS}")
        end = loop.time() + self.random.uniform(2, 6)
        while loop.time() < end:
            if self.line.transport.is_closing() or not self.is_joined and not await self._join():
                return False
            self._look_at_the_clock()
            self.changed.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.changed.wait(), 0.25)
        return self.random.random() < 0.5 or await self._leave()

    async def _leave(self):
        self.history.add("left", client=self.name, room=self.room, chosen=True)
        self.has_left = True
        self.is_joined = False
        line = self.line
        self.ask("room:leave", {"roomId": self.room})
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                while self.asked and not line.transport.is_closing():
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError:
            self._hang_up()
        return not line.transport.is_closing()


class Slow:
    """The large room with everybody in it; nobody when there are no joiners."""

    def __init__(self, world, count, seed):
        self.world = world
        self.writers = [Writer("writer", ROOM, world, f"{seed}/writer", through_proxy=False)] if count else []
        self.joiners = [SlowJoiner(index, world, f"{seed}/slow/{index}") for index in range(count)]
        self.lives = []

    async def begin(self):
        """When the room is made."""
        if self.joiners:
            await self.world.until("the large room is made", lambda: self.writers[0].is_made, 180)
        self.lives = [asyncio.get_running_loop().create_task(joiner.run()) for joiner in self.joiners]
        self.world.lives += self.lives

    async def end(self):
        """After the last fault: each reads the room once more within 30 s, and goes."""
        healed = asyncio.get_running_loop().time()
        await self.world.until(
            "every slow joiner has read the large room", lambda: all(j.last_read > healed for j in self.joiners), 30
        )
        for joiner in self.joiners:
            joiner.is_stopping = True
        await self.world.until("every slow joiner has left", lambda: all(life.done() for life in self.lives), 30)

    @property
    def reads(self):
        """Seconds that each read of the room took."""
        return [seconds for joiner in self.joiners for seconds in joiner.reads]

    def summary(self):
        """A line for the report; none when nobody read."""
        if not self.reads:
            return ""
        megabytes = ELEMENTS * len(CONTENT) / 1e6
        failures = sum(joiner.failures for joiner in self.joiners)
        return (
            f"slow joiners: {len(self.reads)} reads of {megabytes:.0f} MB, "
            f"median {statistics.median(self.reads):.1f} s, longest {max(self.reads):.1f} s; {failures} visits ended early"
        )
