"""A back end that follows a room over HTTP, through everything."""

import asyncio
import contextlib
import urllib.parse

import orjson

from client import App

# A comment comes every 15 s, also from a gateway that was frozen for a while.
SILENCE = 40.0
# The gateway answers a join within 10 s, and may be frozen before.
ANSWER_WITHIN = 20.0


class Follower(App):
    """Reads its room's stream, and goes on from the last event whenever that ended. It sends nothing, and nobody sees it."""

    def begin(self):
        super().begin()
        # The id of the last event.
        self.place = None

    async def run(self):
        while True:
            with contextlib.suppress(OSError, EOFError, TimeoutError):
                await self._follow(*self.random.choice(self.addresses))
            if self.is_joined:
                self.history.add("left", client=self.name, room=self.room)
            self.is_joined = False
            await asyncio.sleep(self.random.uniform(0.1, 0.4))

    async def _follow(self, host, port):
        """One stream, to its end."""
        async with asyncio.timeout(4):
            reader, writer = await asyncio.open_connection(host, port, ssl=self.world.cluster.tls, limit=1 << 26)
        try:
            place = f"Last-Event-ID: {self.place}\r\n" if self.place else ""
            query = urllib.parse.urlencode(self.world.cluster.auth(self.user))
            writer.write(
                f"GET /api/rooms/{self.room}/events?{query} HTTP/1.1\r\nHost: {host}:{port}\r\n{place}\r\n".encode())
            async with asyncio.timeout(ANSWER_WITHIN):
                head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200 "):
                self.world.counts[f"followers refused {head[9:12].decode()}"] += 1
                return
            await self._read(reader)
        finally:
            writer.transport.abort()

    async def _read(self, reader):
        event = {}
        while True:
            async with asyncio.timeout(SILENCE):
                line = (await reader.readuntil(b"\n"))[:-1].decode()
            name, _, value = line.partition(": ")
            if line == ":" and not self.is_joined:
                self._resumed()
            elif line:
                event[name] = value
            elif event.get("data"):
                self.place = event["id"]
                self._event(event["event"], orjson.loads(event["data"]))
            if not line:
                event = {}

    def _resumed(self):
        self.world.counts["followers resumed"] += 1
        self.is_joined = True
        self.history.add("resumed", client=self.name, room=self.room, epoch=self.epoch, seq=self.seq, hidden=True)
        self._sees_no_previews()

    def _event(self, name, data):
        if name == "room:reset":
            self.is_joined = True
            self.epoch = data["epoch"]
            self._snapshot(data, data["elements"], hidden=True)
            self._sees_no_previews()
        else:
            self.world.counts["followed"] += 1
            self._deliver(name, data)

    def _sees_no_previews(self):
        self.history.add("look", client=self.name, room=self.room)

    def die(self):
        """What it knows is of no use any more."""
        self.history.add("left", client=self.name, room=self.room, chosen=True)
        self.is_joined = False
        self.deaths += 1
        self.name = f"{self.user}.{self.deaths}"
        self.begin()
