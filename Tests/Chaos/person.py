"""Somebody who uses a client library: its process from run to run, what it is asked and what it tells."""

import asyncio
import random
import signal

import orjson

from client_process import ClientProcess
from habits import Habits

# Mean seconds between two actions of one person, and between two looks at the canvas.
PAUSE = 0.7
LOOK = 0.8
# How long the store of a web page may take, ms.
STORE_DELAY = 400


class Person:
    """Somebody with a client, over all its runs."""

    def __init__(self, name, kind, room, people, seed, through_proxy):
        # Who somebody is for the server, and here.
        self.user = name
        self.kind = kind
        self.room = room
        self.people = people
        self.journal = people.journal
        self.random = random.Random(seed)
        self.store = people.folder / f"{name}.edits"
        self.log = people.folder / f"{name}.log"
        self.gateways = "app" if through_proxy else "client", "gateways"
        self.process = None
        self.run = 0
        # Of the present run: what each call without an answer is about, the events of all edits by call, and all edits.
        self.open, self.edits, self.begun = {}, {}, []
        # What was shown last.
        self.seen = {"elements": []}
        self.is_frozen = False
        self.habits = Habits(self)

    # The process

    async def begin(self):
        """A new run, with what the last one saved."""
        run = self.run + 1
        process = ClientProcess(lambda report: self._told(run, report))
        url = f"http://127.0.0.1:{self.people.world.cluster.proxies[self.gateways].port}"
        options = {"url": url, "userId": self.user, "store": str(self.store), "owner": self.user}
        if self.kind == "web":
            options["storeDelay"] = STORE_DELAY
        await process.start(self.kind, options, self.log)
        self.process, self.run, self.open, self.edits, self.begun = process, run, {}, {}, []
        self.seen = {**self.seen, "state": "offline", "pending": None, "seq": 0}
        self.note("run", client=self.kind, user=self.user, room=self.room)
        self.process.call("join", self.room)
        self.process.call("connect")

    async def die(self):
        """SIGKILL, and what lies in the store then."""
        await self.process.kill()
        self.note("killed", saved=self.saved())

    def saved(self):
        """The edits in the store, as they were or are to be sent: in a file, or in the files of a folder."""
        files = [self.store] if self.store.is_file() else sorted(self.store.rglob("*.json"))
        return [edit for file in files for edit in _edits_in(orjson.loads(file.read_bytes()))]

    def freeze(self):
        self.is_frozen = True
        self.process.send(signal.SIGSTOP)

    def thaw(self):
        self.process.send(signal.SIGCONT)
        self.is_frozen = False

    def count(self, what):
        """Counts something of this kind of client."""
        self.people.world.counts[f"{self.kind}.{what}"] += 1

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
            self.count(f"errors.{report['value']['code']}")

    def _answered(self, call, report):
        kind, about = self.open.pop(call, (None, None))
        if call in self.edits:
            self._settled(call, self.edits[call], report)
        elif kind == "look" and "result" in report:
            self._looked(report["result"], about)
        elif kind == "lift":
            self.note("lifted", gesture=about)
        elif "error" in report:
            self.people.world.violation(f"the client of {self.user} has failed: {report['error']}")

    def _settled(self, call, event, report):
        if "error" in report:
            code = report["error"].get("code")
            self.note("refused", call=call, code=code)
            self.count(f"refused.{code}")
        else:
            result = report["result"]
            more = {"undone": True} if "undone" in result else {}
            self.note("applied", call=call, seq=result["seq"], **more)
            self.count(f"applied.{event}")
        # This is when an element would jump back.
        if self.random.random() < 0.5:
            self.look()

    # Looking

    def look(self, what="look"):
        """Has what is shown written down."""
        if not any(kind == "look" for kind, _ in self.open.values()):
            self.open[self.process.call("look", self.room)] = "look", what
            self.note("asked")

    def _looked(self, seen, what):
        self.seen = seen
        self.count("looks")
        self.note(
            what, state=seen["state"], seq=seen["seq"], pending=seen["pending"],
            elements={element["id"]: element for element in seen["elements"]},
        )

    @property
    def is_settled(self):
        """Connected, and everything that was begun has its result."""
        is_idle = all(kind == "look" for kind, _ in self.open.values())
        return is_idle and self.seen["state"] == "live" and self.seen["pending"] == 0

    # Life

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
                await self.habits.act()

    def edit(self, event, body, *command):
        """Begins an edit, and does not wait for its result. `event` and `body` are what it is on the wire."""
        call = self.process.call(*command)
        self.open[call] = "edit", event
        self.edits[call] = event
        self.begun.append((event, body))
        self.note("edit", call=call, event=event, body=body)

    def go_offline(self):
        """Until its next run."""
        self.process.call("disconnect")

    def cut(self):
        """The network goes away without a word."""
        self.process.call("cut")
        self.count("cuts")


def _edits_in(saved):
    """The edits in what a client has saved, wherever they stand."""
    if isinstance(saved, dict):
        if isinstance(saved.get("event"), str) and "body" in saved:
            body = saved["body"]
            yield {"event": saved["event"], "body": orjson.loads(body) if isinstance(body, str) else body}
        saved = list(saved.values())
    for part in saved if isinstance(saved, list) else []:
        yield from _edits_in(part)
