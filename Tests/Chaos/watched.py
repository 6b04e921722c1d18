"""A pipeline whose daemons' own pages can be read: are they ready, what do they count?"""

import asyncio
import contextlib
import json

import operators

TOKEN = "".join(f"{name}: {value}\r\n" for name, value in operators.fields().items())

# Who connects to whom.
NEIGHBOURS = {
    "gateway": ["coalescer", "committer", "fanout"],
    "coalescer": ["fanout"],
    "committer": ["fanout"],
    "fanout": [],
}


class Watched:
    """Has `daemons` by name, of which each says its stage, and where its pages are while it is ready."""

    def of(self, stage):
        return [daemon for daemon in self.daemons.values() if daemon.stage == stage]

    async def is_ready(self, within=60):
        """Waits until every daemon says that it is ready, now."""
        for _ in range(int(within / 0.1)):
            answers = await asyncio.gather(*(self.fetch(daemon, "/readyz") for daemon in self.daemons.values()))
            if all(status == 200 for status, _ in answers):
                return
            await asyncio.sleep(0.1)
        late = [daemon for daemon, (status, _) in zip(self.daemons.values(), answers) if status != 200]
        raise AssertionError("not ready: " + "".join(f"\n{daemon.name}: {daemon.tail(1200)}" for daemon in late))

    async def fetch(self, daemon, path, within=2.0):
        """Status and body of one of a daemon's own pages; status 0 when it does not answer."""
        if not daemon.is_ready:
            return 0, b""
        with contextlib.suppress(OSError, TimeoutError, ValueError, IndexError):
            async with asyncio.timeout(within):
                host, port = daemon.http.removeprefix("http://").split(":")
                reader, writer = await asyncio.open_connection(host, int(port.strip("/")))
                try:
                    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{TOKEN}Connection: close\r\n\r\n".encode())
                    answer = await reader.read(1 << 20)
                    while chunk := await reader.read(1 << 20):
                        answer += chunk
                finally:
                    writer.close()
                head, _, body = answer.partition(b"\r\n\r\n")
                return int(head.split(b" ", 2)[1]), body
        return 0, b""

    async def metrics(self, daemon):
        """A daemon's metrics by name with labels; none when it does not answer."""
        _, body = await self.fetch(daemon, "/metrics")
        found = {}
        for line in body.decode(errors="replace").splitlines():
            if line and not line.startswith("#"):
                name, _, value = line.rpartition(" ")
                with contextlib.suppress(ValueError):
                    found[name] = float(value)
        return found

    async def held_twice(self):
        """Of each room that several fan-outs hold: the people whom each of them has."""
        held = {}
        for daemon in self.of("fanout"):
            for room in json.loads((await self.fetch(daemon, "/rooms"))[1] or "{}").get("rooms", []):
                people = json.loads((await self.fetch(daemon, f"/rooms?id={room['roomId']}"))[1])["people"]
                held.setdefault(room["roomId"], {})[daemon.name] = sorted(person["userId"] for person in people)
        return {room: people for room, people in held.items() if len(people) > 1}

    async def links(self):
        """How many times daemons have opened links to others again; None while a link is missing."""
        opened = 0
        for stage, neighbours in NEIGHBOURS.items():
            for daemon in self.of(stage) if neighbours else []:
                figures = await self.metrics(daemon)
                for neighbour in neighbours:
                    if figures.get(f'touchsync_links_up{{peer_stage="{neighbour}"}}') != len(self.of(neighbour)):
                        return None
                opened += figures["touchsync_link_reconnects_total"]
        return opened

    async def room(self, name):
        """What each fan-out knows of the people in a room."""
        pages = {daemon.name: await self.fetch(daemon, f"/rooms?id={name}") for daemon in self.of("fanout")}
        return {daemon: json.loads(body)["people"] for daemon, (status, body) in pages.items() if status == 200}
