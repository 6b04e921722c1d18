"""People who use a client library, each in a process of its own: they edit at human pace, their processes are killed,
frozen and cut off, and what they did and were shown is written down for `claims`."""

import asyncio
import random
import signal

import orjson

import ports
from claims import judge
from client_process import ClientProcess
from history import by_id
from proxy import Proxy

# Mean seconds between two actions of one person, and between two looks at the canvas.
PAUSE = 0.7
LOOK = 0.8
# How long after the last fault a client may take until it is connected and every edit has its result: its longest pause
# between two attempts, a connection that hangs, and a refusal that asks for patience.
SETTLES_WITHIN = 30
NOBODYS = "nobody's"


class AnyGateway(Proxy):
    """One address for all gateways: each connection leads to another one."""

    def aim(self):
        return random.choice(self.target)


class Journal:
    """What people did and were told, one record each, in the order in which it was seen. Looks are large, so all of it
    lies in a file."""

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


class Person:
    """Somebody with a client, over all its runs."""

    def __init__(self, name, kind, room, people, seed, through_proxy):
        # Who somebody is for the server, and here.
        self.user = name
        self.kind = kind
        self.room = room
        self.people = people
        self.journal = people.journal
        self.counts = people.world.counts
        self.random = random.Random(seed)
        self.store = people.folder / f"{name}.edits"
        self.log = people.folder / f"{name}.log"
        self.gateways = "app" if through_proxy else "client", "gateways"
        self.process = None
        self.run = 0
        # Of the present run: what each call without an answer is about.
        self.open = {}
        # What was shown last.
        self.seen = {"elements": []}
        self.is_frozen = False
        # What it makes is told by its number.
        self.made = 0
        self.deck = []

    # The process

    async def begin(self):
        """A new run, with what the last one saved."""
        self.run += 1
        self.open, self.seen = {}, {**self.seen, "state": "offline", "pending": None, "seq": 0}
        self.note("run", user=self.user, room=self.room)
        run = self.run
        self.process = ClientProcess(lambda report: self._told(run, report))
        url = f"http://127.0.0.1:{self.people.world.cluster.proxies[self.gateways].port}"
        options = {"url": url, "userId": self.user, "store": str(self.store), "owner": self.user}
        await self.process.start(self.kind, options, self.log)
        self.process.call("join", self.room)
        self.process.call("connect")

    async def die(self):
        """SIGKILL, and what lies in the store then."""
        await self.process.kill()
        self.note("killed", saved=self._saved())

    def _saved(self):
        """The edits in the store, as they were or are to be sent."""
        if not self.store.exists():
            return []
        return list(_edits_in(orjson.loads(self.store.read_bytes())))

    def freeze(self):
        self.is_frozen = True
        self.process.send(signal.SIGSTOP)

    def thaw(self):
        self.process.send(signal.SIGCONT)
        self.is_frozen = False

    def note(self, kind, **fields):
        self.journal.add(kind, person=self.user, run=self.run, **fields)

    def _told(self, run, report):
        if run != self.run:
            return
        if report is None:
            if self.process.code != -signal.SIGKILL and not self.people.is_over:
                self.people.world.violation(f"the client of {self.user} ended with {self.process.code}")
        elif "call" in report:
            self._answered(report["call"], report)
        elif report["event"] == "refusal":
            self.note("refusal", code=report["value"]["code"])
        elif report["event"] == "error":
            self.counts[f"clients.errors.{report['value']['code']}"] += 1

    def _answered(self, call, report):
        kind, about = self.open.pop(call, (None, None))
        if kind == "look" and "result" in report:
            self._looked(report["result"], about)
        elif kind == "lift":
            self.note("lifted", gesture=about)
        elif kind == "edit":
            self._settled(call, about, report)
        elif "error" in report:
            self.people.world.violation(f"the client of {self.user} has failed: {report['error']}")

    def _settled(self, call, event, report):
        if "error" in report:
            code = report["error"].get("code")
            self.note("refused", call=call, code=code)
            self.counts[f"clients.refused.{code}"] += 1
        else:
            result = report["result"]
            more = {"undone": True} if "undone" in result else {}
            self.note("applied", call=call, seq=result["seq"], **more)
            self.counts[f"clients.applied.{event}"] += 1
        # This is when an element would jump back.
        if self.random.random() < 0.5:
            self.look()

    # Looking

    def look(self, what="look"):
        """Has what is shown written down."""
        if not any(kind == "look" for kind, _ in self.open.values()):
            self.open[self.process.call("look", self.room)] = "look", what

    def _looked(self, seen, what):
        self.seen = seen
        self.counts["clients.looks"] += 1
        self.note(
            what, state=seen["state"], seq=seen["seq"], pending=seen["pending"],
            elements={element["id"]: element for element in seen["elements"]},
        )

    @property
    def is_settled(self):
        """Connected, and everything that was begun has its result."""
        is_idle = all(kind == "look" for kind, _ in self.open.values())
        return is_idle and self.seen["state"] == "live" and self.seen["pending"] == 0

    # Editing

    async def live(self):
        """Until it is cancelled; nothing new once people are to rest."""
        await asyncio.gather(self._work(), self._watch())

    async def _watch(self):
        while True:
            await asyncio.sleep(self.random.uniform(0.5, 1.5) * LOOK)
            if not self.is_frozen:
                self.look()

    async def _work(self):
        while True:
            await asyncio.sleep(self.random.expovariate(1 / PAUSE))
            if not self.people.are_resting and not self.is_frozen and self.process.code is None:
                await self.act()

    async def act(self):
        """Everything that somebody does, once before anything is done again."""
        if not self.deck:
            self.deck = [
                self._create, self._create_several, self._transform, self._transform, self._transform_again,
                self._transform_several, self._update, self._turn, self._drag, self._drag, self._drag_several,
                self._change_their_mind, self._delete, self._delete_several, self._undo, self._redo, self._err,
            ]
            self.random.shuffle(self.deck)
            # Somewhere to begin.
            self.deck += [] if self._mine() else [self._create_several]
        await self.deck.pop()()

    def edit(self, event, body, *command):
        """Begins an edit, and does not wait for its result. `event` and `body` are what it is on the wire."""
        call = self.process.call(*command)
        self.open[call] = "edit", event
        self.note("edit", call=call, event=event, body=body)

    def _edit(self, event, body, method, *arguments):
        self.edit(event, body, "edit", self.room, method, *arguments)

    async def _create(self):
        element = self._new()
        self._edit("element:create", {"element": element}, "create", element)

    async def _create_several(self):
        elements = [self._new() for _ in range(self.random.randint(2, 3))]
        self._edit("elements:create", {"elements": elements}, "createAll", elements)

    def _new(self):
        """Of the size that apps expect of notes."""
        self.made += 1
        return {
            "id": f"{self.user}-{self.made}", "type": "note", "originalWidth": 100, "originalHeight": 100,
            **self._place(), "content": f"made by {self.user}",
        }

    def _place(self):
        """A position that nobody else gives to anything."""
        self.people.places += 1
        return {"positionX": -self.people.places, "positionY": self.random.randint(-1000, 1000)}

    async def _transform(self, name=None):
        name = name or self._any()
        place = self._place()
        turned = {"rotation": self.random.randrange(720) / 2} if self.random.random() < 0.5 else {}
        body = {"elementId": name, **place, "transform": turned}
        self._edit("element:transform", body, "transform", name, {**place, **turned})

    async def _transform_again(self):
        """Of one element without a pause: what could not be sent yet is one edit."""
        name = self._any()
        if self.random.random() < 0.5:
            self.cut()
        for _ in range(self.random.randint(2, 4)):
            await self._transform(name)

    async def _transform_several(self):
        entries = [(name, self._place()) for name in self._some()]
        body = {"elements": [{"elementId": name, **place} for name, place in entries]}
        self._edit("elements:transform", body, "transformAll", body["elements"])

    async def _update(self):
        name = self._any()
        self.made += 1
        body = {"elementId": name, "set": {"content": f"{self.user} wrote {self.made}"}}
        self._edit("element:update", body, "update", name, body["set"])

    async def _turn(self):
        name, preset = self._any(), self.random.choice(["rotateCW", "rotateCCW", "rotate180"])
        self._edit("element:preset", {"elementId": name, "preset": preset}, "preset", name, preset)

    async def _drag(self):
        name = self._any()
        await self._gesture("element:gesture", {"elementId": name}, name)

    async def _drag_several(self):
        names = self._some()
        await self._gesture("elements:gesture", {"elements": names}, names)

    async def _change_their_mind(self):
        name = self._any()
        await self._gesture("element:gesture", {"elementId": name}, name, is_meant=False)

    async def _gesture(self, event, body, ids, is_meant=True):
        """Fingers touch elements, move for a while, and are lifted."""
        self.made += 1
        run, name, shift = self.run, f"g{self.made}", self._shift()
        self.note("touched", gesture=name, ids=[ids] if isinstance(ids, str) else ids)
        self.process.call("begin", self.room, name, ids)
        for step in (0.3, 0.7, 1):
            moved = {axis: round(distance * step) for axis, distance in shift.items()}
            self.process.call("gesture", name, "update", {"translation": moved})
            await asyncio.sleep(self.random.uniform(0.02, 0.2))
            if self.run != run:
                return
        if is_meant:
            self.edit(event, {**body, "translation": shift}, "gesture", name, "end")
            self.note("lifted", gesture=name)
        else:
            self.open[self.process.call("gesture", name, "cancel")] = "lift", name

    def _shift(self):
        """A movement that this person never made before, nor will soon."""
        self.people.shifts += 1
        number = self.people.shifts * 4001 % 9409
        return {"x": number % 97 - 48, "y": number // 97 - 48 or 49}

    async def _delete(self):
        for name in self._mine()[:1]:
            self._edit("element:delete", {"elementId": name}, "delete", name)

    async def _delete_several(self):
        names = self._mine()[:2]
        if len(names) == 2:
            self._edit("elements:delete", {"elementIds": names}, "delete", names)

    async def _undo(self):
        for _ in range(self.random.randint(1, 3)):
            self._edit("history:undo", {}, "undo")

    async def _redo(self):
        for _ in range(self.random.randint(1, 2)):
            self._edit("history:redo", {}, "redo")

    async def _err(self):
        """Something that the server refuses."""
        await self._transform(NOBODYS)

    async def hurry(self):
        """Several edits at once."""
        for act in self.random.sample([self._create, self._transform, self._update, self._turn, self._transform], 3):
            await act()

    def cut(self):
        """The network goes away without a word."""
        self.process.call("cut")
        self.counts["clients.cuts"] += 1

    # What there is, as it was seen last

    def _mine(self):
        names = [each["id"] for each in self.seen["elements"] if each["id"].startswith(f"{self.user}-")]
        self.random.shuffle(names)
        return names

    def _all(self):
        """Annotations are left to apps."""
        return [each["id"] for each in self.seen["elements"] if "parentId" not in each]

    def _any(self):
        names = self._mine() if self.random.random() < 0.5 else self._all()
        return self.random.choice(names or [NOBODYS])

    def _some(self):
        names = self._all()
        return self.random.sample(names, 2 if len(names) < 4 else self.random.randint(2, 4)) if len(names) > 1 else [NOBODYS]


def _edits_in(saved):
    """The edits in what a client has saved, wherever they stand."""
    if isinstance(saved, dict):
        if isinstance(saved.get("event"), str) and "body" in saved:
            body = saved["body"]
            yield {"event": saved["event"], "body": orjson.loads(body) if isinstance(body, str) else body}
        saved = list(saved.values())
    for part in saved if isinstance(saved, list) else []:
        yield from _edits_in(part)


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
        self.users = {person.user for person in self.all}
        self.lives = []

    async def begin(self):
        """Everybody opens the app. Half of them, the first one of each kind, come through the fault proxy."""
        if not self.all:
            return
        cluster = self.world.cluster
        gateways = [cluster.binds[daemon.name] for daemon in cluster.of("gateway")]
        for key in {person.gateways for person in self.all}:
            cluster.proxies[key] = await AnyGateway(">".join(key), gateways).listen(ports.free())
        for person in self.all:
            await person.begin()
        self.lives = [asyncio.get_running_loop().create_task(person.live()) for person in self.all]
        self.world.lives += self.lives

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
            lambda: all(person.is_settled and person.seen["seq"] == rooms.get(person.room, 0) for person in self.all), 5,
        )
        for person in self.all:
            person.open = {call: about for call, about in person.open.items() if about[0] != "look"}
            person.look("last")
        await self.world.until(
            "every client has shown everything", lambda: not any(person.open for person in self.all), 5
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
            "select room_id, element_json(elements)::json from elements where deleted_seq is null and room_id = any(%s)",
            rooms,
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
