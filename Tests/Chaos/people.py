"""People who use client libraries, each in a process of its own: they edit at human pace, their processes are killed,
frozen and cut off, and what they did and were shown is written down for `claims`."""

import asyncio
import random

import orjson

import ports
from claims import judge
from history import by_id
from person import Person
from proxy import Proxy

# How long after the last fault a client may take until it is connected and every edit has its result: its longest pause
# between two attempts, a connection that hangs, and a refusal that asks for patience.
SETTLES_WITHIN = 30


class AnyGateway(Proxy):
    """One address for all gateways: each connection leads to another one."""

    def aim(self):
        return random.choice(self.target)


class Journal:
    """What people did and were told, in the order in which it was seen. Looks are large, so all of it lies in a file.

    `run`: a process begins. `edit`: an edit does, `call` is its number within the run. `applied`, `refused`: its result.
    `refusal`: the client said that some edit is refused. `touched`, `lifted`: fingers are on elements. `killed`: the process
    is, `saved` is what its store held. `asked`, then `look` or `last`: what is shown in between. `row`, `element`: PostgreSQL's, at the end.
    """

    def __init__(self, path):
        self.path = path
        self.file = open(path, "wb", buffering=1 << 20)

    def add(self, kind, **fields):
        self.file.write(orjson.dumps({"kind": kind, **fields}) + b"\n")

    def records(self):
        """From the first one on, read when they are asked for."""
        self.file.flush()
        with open(self.path, "rb") as lines:
            for line in lines:
                yield orjson.loads(line)

    def close(self):
        self.file.close()


class People:
    """All persons of a world: so many for each kind of client, the first ones of all kinds in one room, the next ones in
    the next room."""

    def __init__(self, world, count, kinds, seed):
        self.world = world
        self.folder = world.cluster.folder
        self.journal = Journal(self.folder / "clients.jsonl")
        self.are_resting = False
        self.is_over = False
        # How many places and movements were given.
        self.places = self.shifts = 0
        rooms = sorted({app.room for app in world.apps})
        self.all = [
            Person(f"{kind}{index}", kind, rooms[index % len(rooms)], self, f"{seed}/{kind}/{index}", index % 2 == 0)
            for kind in kinds for index in range(count)
        ]
        self.users = {person.user: person for person in self.all}
        self.lives = []

    async def begin(self):
        """Everybody opens the app. Half of them, the first one of each kind, come through the fault proxy."""
        if not self.all:
            return
        cluster = self.world.cluster
        gateways = cluster.app_addresses(through_proxy=False)
        for key in {person.gateways for person in self.all}:
            cluster.proxies[key] = await AnyGateway(">".join(key), gateways).listen(ports.free())
        for person in self.all:
            await person.begin()
        self.lives = [asyncio.get_running_loop().create_task(person.live()) for person in self.all]
        self.world.lives += self.lives
        # Somewhere to begin.
        await self.world.until(
            "every client is in its room", lambda: all(person.seen["state"] == "live" for person in self.all), 20
        )

    def one_of_each_kind(self, chance):
        """Persons for a fault, chosen by chance."""
        kinds = {}
        for person in chance.sample(self.all, len(self.all)):
            kinds[person.kind] = person
        return list(kinds.values())

    async def settle(self):
        """After the last fault: nobody begins anything, and everything has its result."""
        self.are_resting = True
        if self.all:
            await self.world.until(
                "every client has settled", lambda: all(person.is_settled for person in self.all), SETTLES_WITHIN
            )

    async def testify(self, server):
        """When nothing changes any more: what is shown at the end, and what PostgreSQL holds. Faults are violations."""
        if not self.all:
            return
        rooms = dict(await server.rows("select room_id, seq from rooms"))
        await self.world.until(
            "every client shows where its room is",
            lambda: all(person.is_settled and person.seen["seq"] >= rooms.get(person.room, 0) for person in self.all), 15,
        )
        for person in self.all:
            person.open = {call: about for call, about in person.open.items() if about[0] != "look"}
            person.look("last")
        await self.world.until(
            "every client has shown everything", lambda: not any(person.open for person in self.all), 15
        )
        await self._dump(server)
        faults, counts = judge(self.journal.records)
        self.world.counts.update(counts)
        for fault in faults:
            self.world.violation(fault)

    async def _dump(self, server):
        rooms = sorted({person.room for person in self.all})
        for room, seq, user, event, cause, before, after in await server.rows(
            "select room_id, seq, user_id, event, cause, before, after from commit_log where room_id = any(%s)"
            " order by room_id, seq", rooms,
        ):
            old, new = by_id(before), by_id(after)
            changes = {name: [old.get(name), new.get(name)] for name in {**old, **new}}
            self.journal.add("row", room=room, seq=seq, user=user, event=event, cause=cause, changes=changes)
        for room, element in await server.rows(
            "select room_id, data from elements where deleted_seq is null and room_id = any(%s)", rooms,
        ):
            self.journal.add("element", room=room, element=element)

    async def end(self):
        """Ends all clients."""
        self.is_over = True
        for life in self.lives:
            life.cancel()
        await asyncio.gather(*self.lives, return_exceptions=True)
        await asyncio.gather(*(person.process.stop() for person in self.all if person.process))
        self.journal.close()
