"""An app as it should behave: every commit is numbered, kept until its answer and sent again after a loss; a loss of
the connection costs nothing but time; updates are applied by their number."""

import asyncio
import collections
import contextlib
import random

from hand import Hand, value
from history import DELIVERIES, OPTIONAL, bodies, body, box, geometries, point
from line import Line

# The updates that have a part of each element only, and what an element has no more if it is not in that part.
PARTS = {"elements:transformed": OPTIONAL, "elements:updated": ("animation",)}
RETRYABLE = {"busy", "unavailable", "rate_limited", "gap"}
# Numbered commits that may be without an answer.
WINDOW = 3
# Longer than the gateway's own deadline for a numbered commit or a join, and the time that it may be frozen before: whoever
# has no answer then never gets one.
ANSWER_WITHIN = 20.0
# The commits that are also made without a number. Their answers wait until they are stored, however long the database is away.
UNNUMBERED = ("element:create", "element:transform", "element:update")
# How often a commit is sent more than once.
COPIES = 0.04


class Commit:
    """One numbered commit that has no final answer yet."""

    def __init__(self, n, event, payload, now):
        self.n = n
        self.event = event
        self.payload = payload
        self.invoked = now
        # The line that it went out on, nothing while it waits to be sent (again); and the first one.
        self.line = self.first_line = None


class App:
    """One person in one room, who comes back after everything."""

    def __init__(self, name, room, world, seed, through_proxy):
        # Who somebody is for the server, and for the history: an app that died and was opened again is another one.
        self.user = self.name = name
        self.deaths = 0
        self.room = room
        self.world = world
        self.history = world.history
        self.random = random.Random(seed)
        self.addresses = world.cluster.app_addresses(through_proxy)
        self.line = None
        self.is_joined = False
        # It left on purpose: what comes before the answer to its last join is of no use.
        self.has_left = False
        # Requests made so far, on all lines; of those without an answer: when they were sent, and the commit's number.
        self.requests = 0
        self.asked = {}
        # Of those that show something: the record that tells of it once it is acknowledged.
        self.showing = {}
        # Where it points, as text, and where the others do, by the public names of their sessions.
        self.cursor = ""
        self.cursors = {}
        # The last preview seen of each element.
        self.seen = {}
        # The request that is the join that counts.
        self.joining = None
        # How often it was let in.
        self.joins = 0
        # The answer to a join whose elements still come, and those that came.
        self.partial = None
        self.hangs_up = False
        # Nothing is sent again before this, by the loop's clock.
        self.hold_until = 0.0
        self.changed = asyncio.Event()
        self.is_stopping = False
        self.receive_buffer = self.rate = None
        # Half of the apps do, on each machine the same ones.
        self.takes_batches = sum(self.name.encode()) % 2 == 0
        # Elements made so far.
        self.made = 0
        self.begin()

    def begin(self):
        """Knows nothing: at the start, and when the app died with all it held."""
        self.session = self.sid = self.epoch = None
        self.seq = 0
        self.n = 0
        self.gesture = 0
        self.pending = collections.OrderedDict()
        self.elements = {}

    @property
    def auth(self):
        auth = self.world.cluster.auth(self.user)
        return {**auth, "batches": True} if self.takes_batches else auth

    # What happens on the line

    def opened(self):
        self.changed.set()

    def ended(self):
        if self.is_joined:
            self.history.add("left", client=self.name, room=self.room)
        # Who waited in vain for an answer has no excuse for the server.
        if not self.hangs_up:
            self.history.add("closed", client=self.name)
        self.is_joined = self.has_left = self.hangs_up = False
        self.joining = self.partial = None
        self.asked.clear()
        self._show_nothing()
        self.changed.set()

    def _show_nothing(self):
        self.cursor = ""
        self.showing.clear()

    def garbled(self, start):
        self.world.violation(f"{self.name} got what is no message: {start!r}")

    def event(self, name, data):
        if not isinstance(data, dict) or data.get("roomId") not in (None, self.room):
            return self.world.violation(f"{self.name} in {self.room} got {name} {data}")
        if self.has_left:
            return
        if name in DELIVERIES:
            if self.is_joined:
                self._deliver(name, data)
            else:
                self.world.violation(f"{self.name} got {name} {data.get('seq')} before it was in the room")
        elif name == "element:transforming":
            if self.is_joined:
                self._preview(data, data, box(data, self.elements.get(data["elementId"])))
        elif name == "elements:transforming":
            # Seen as a whole: of a single element it cannot be told whether it is in view.
            for element in data["elements"] if self.is_joined else []:
                self._preview(element, data, {})
        elif name == "previews:batch":
            for inner, its_data in data["events"]:
                self.event(inner, its_data)
        elif name == "cursor:moved":
            self.cursors[data["sid"]] = point(data)
        elif name == "room:elements":
            self._part(data)
        elif name == "room:resync" and self.partial:
            self.world.counts["resyncs"] += 1
            self.partial = None
            self.changed.set()
        elif name == "room:resync":
            self.history.add("resync", client=self.name, room=self.room, **{"from": data["from"], "to": data["to"]})
            self.world.counts["resyncs"] += 1
            self.is_joined = False
            self.seq = data["from"] - 1
            self.changed.set()

    def _deliver(self, name, data):
        changed = self._changed(name, data)
        is_recorded = "n" in data and data["userId"] not in self.history.unrecorded
        more = {"session": data["sid"], "n": data["n"]} if is_recorded else {}
        self.history.add(
            "deliver", client=self.name, room=self.room, seq=data["seq"], event=DELIVERIES[name],
            elements=bodies(changed), **more,
        )
        self.seq = data["seq"]
        self.elements.update(changed)
        for element in [name for name, state in changed.items() if state is None]:
            del self.elements[element]

    def _changed(self, name, data):
        """The states after an update, by id."""
        if name == "element:deleted":
            return dict.fromkeys(data["elementIds"])
        if name in PARTS:
            return {part["id"]: self._merged(part, PARTS[name], data["userId"]) for part in data["elements"]}
        if name == "elements:changed":
            living = {element["id"]: element for element in data["created"] + data["changed"]}
            return {**living, **dict.fromkeys(data["deletedIds"])}
        elements = data["elements"] if "elements" in data else [data.get("element") or data]
        return {element["id"]: element for element in elements}

    def _merged(self, part, optional, user):
        """An element with a new part, and without what that says to be null."""
        element = self.elements.get(part["id"], {})
        kept = {name: element[name] for name in element if name not in optional}
        return {name: value for name, value in {**kept, **part, "updatedBy": user}.items() if value is not None}

    def _preview(self, element, data, place):
        if data["userId"] in self.world.old_users:
            # Its gestures are numbered by its gateway, so what it sent cannot be told.
            self.world.counts["previews of old apps"] += 1
            return None
        if person := self.world.persons.users.get(data["userId"]):
            person.count("previews")
            return None
        sender = self.world.people.get(data["sid"])
        if sender is None:
            return self.world.violation(f"{self.name} got a preview of nobody: {data}")
        self.world.counts["previews"] += 1
        self.history.add(
            "preview", client=self.name, room=self.room, element=element["elementId"], sender=sender,
            session=data["sid"], gesture=data["gesture"], body=value(element), **place,
        )
        self.seen[element["elementId"]] = value(element)

    def answered(self, number, data):
        _, event, n = self.asked.pop(number, (0, "", None))
        applied = {"room": self.room, "seq": data["seq"]} if "seq" in data and event != "room:join" else {}
        self.history.add("answer", client=self.name, n=number, **applied)
        if number == self.joining:
            return self._join_answered(data)
        if n is None:
            shown = self.showing.pop(number, None)
            if shown and data["ok"]:
                self.history.add(shown[0], client=self.name, room=self.room, **shown[1])
            if not data["ok"]:
                self.world.counts[f"{event} refused.{data['error']['code']}"] += 1
            return self.changed.set()
        commit = self.pending.get(n)
        if commit is None:
            return self._repeated(n, data)
        if data["ok"]:
            self._accepted(commit, data)
        else:
            self._refused(commit, data["error"])
        self.changed.set()

    def _accepted(self, commit, data):
        del self.pending[commit.n]
        self.world.acknowledged(commit, self.room)
        if data.get("duplicate"):
            self.world.counts["duplicates"] += 1
        self.world.counts[f"acks.{commit.event}"] += 1
        self.history.add(
            "ok", client=self.name, room=self.room, session=self.sid, n=commit.n, seq=data["seq"],
            **self._result(commit.event, data), **self._undone(commit.event, data),
        )
        self.world.firsts[self.sid, commit.n] = data["seq"]

    @staticmethod
    def _result(event, data):
        """What an acknowledgement says of the elements."""
        if event.startswith("history:") or event == "elements:animate":
            return {}
        if event in ("element:delete", "elements:delete"):
            return {"elements": dict.fromkeys(data["elementIds"], "")}
        if event in ("elements:transform", "elements:gesture", "elements:throw", "elements:halt"):
            return {"geometry": geometries(data["elements"])}
        elements = data["elements"] if "elements" in data else [data["element"]]
        return {"elements": {element["id"]: body(element) for element in elements}}

    def _undone(self, event, data):
        """Whether an undo or a redo had anything to do."""
        if not event.startswith("history:"):
            return {}
        self.world.counts["undos" if "undone" in data else "nothing to undo"] += 1
        return {} if "undone" in data else {"unchanged": True, "event": event, "user": self.user}

    def _refused(self, commit, error):
        code = error["code"]
        is_final = code not in RETRYABLE and code != "session_expired"
        if is_final:
            del self.pending[commit.n]
            self.world.settled(commit, self.room)
        self.history.add(
            "refused", client=self.name, room=self.room, session=self.sid, n=commit.n, code=code, final=is_final
        )
        self.world.counts[f"refused.{code}"] += 1
        if is_final:
            return
        # What was sent behind it met a gap: all of it goes again, in order.
        for other in self.pending.values():
            if other.n >= commit.n:
                other.line = None
        self.hold_until = asyncio.get_running_loop().time() + min(error.get("retryAfterMs", 100), 1000) / 1000
        if code == "session_expired":
            self.line.close()

    def _repeated(self, n, data):
        """The answer to a commit that was sent once more than needed: the first answer again."""
        first = self.world.firsts.get((self.sid, n))
        if data.get("ok") and first is not None and data["seq"] != first:
            self.world.violation(f"{self.name}: commit {n} was acknowledged as {first} and as {data['seq']}")

    # Life

    def hand(self):
        return Hand(self)

    async def run(self):
        """Lives until it is told to stop and has an answer to all that it committed."""
        work = asyncio.get_running_loop().create_task(self.hand().work())
        try:
            while not (self.is_stopping and self.is_joined and not self.pending and not self.asked):
                if self.line is None or self.line.transport.is_closing():
                    self.is_joined = False
                    self.line = None
                    if not await self._connect():
                        await asyncio.sleep(self.random.uniform(0.1, 0.4))
                        continue
                if not self.is_joined and not await self._join():
                    if self.line:
                        self.line.close()
                    await asyncio.sleep(self.random.uniform(0.05, 0.3))
                    continue
                self._send_pending()
                self._look_at_the_clock()
                self.changed.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.changed.wait(), 0.25)
        finally:
            work.cancel()

    async def _connect(self):
        address = self.random.choice(self.addresses)
        line = None
        try:
            async with asyncio.timeout(4):
                self.changed.clear()
                line = self.line = await Line.dial(
                    address, self, self.auth, self.receive_buffer, self.rate, self.world.cluster.tls)
                while not line.is_open:
                    if line.transport.is_closing():
                        return False
                    await self.changed.wait()
                    self.changed.clear()
                return True
        except (OSError, TimeoutError):
            if line:
                line.close()
            return False

    def ask(self, event, payload, n=None):
        """Sends a request that is to be answered; returns its number."""
        self.requests += 1
        self.asked[self.requests] = asyncio.get_running_loop().time(), event, n
        self.history.add("request", client=self.name, n=self.requests)
        self.line.call(self.requests, event, payload)
        return self.requests

    def ask_to_join(self, **more):
        request = {"roomId": self.room, **more}
        if self.session:
            request["session"] = self.session
            request["resume"] = {"epoch": self.epoch, "seq": self.seq}
        self.joining = self.ask("room:join", request)

    async def _join(self):
        """Asks to be let in, unless that was done already, and waits for it. True when it was, even if the next resync
        came at once."""
        line, joins = self.line, self.joins
        if self.joining is None:
            self.ask_to_join()
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                while (self.joining or self.partial) and self.line is line and not line.transport.is_closing():
                    self.changed.clear()
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self.changed.wait(), 0.25)
                    self._close_if_silent()
        except TimeoutError:
            self._hang_up()
        return self.joins > joins

    def _hang_up(self):
        """Gives the line up, as an answer is missing."""
        self.world.counts["hung up"] += 1
        if self.line and not self.line.transport.is_closing():
            self.hangs_up = True
            self.line.close()

    def _join_answered(self, answer):
        """At once, not when its task is next: the room's stream follows on the same line."""
        self.joining = None
        if answer["ok"]:
            self._joined(answer)
        elif answer["error"]["code"] == "session_expired":
            self.world.violation(f"{self.name} lost its session with {len(self.pending)} commits in hand")
        else:
            self.world.counts[f"join refused.{answer['error']['code']}"] += 1
        self.changed.set()

    def _joined(self, answer):
        if self.epoch not in (None, answer["epoch"]):
            self.world.counts["epochs"] += 1
        self.session, self.sid, self.epoch = answer["session"], answer["sid"], answer["epoch"]
        self.world.people[self.sid] = self.name
        self.cursors = {
            connection["sid"]: point(connection.get("cursor"))
            for member in answer["members"] for connection in member["connections"]
        }
        place = {"client": self.name, "room": self.room, "epoch": self.epoch}
        self.has_left = False
        if "parts" in answer:
            self.partial = answer, []
            return
        self._is_in()
        if answer["recovered"]:
            self.world.counts["recoveries"] += 1
            self.history.add("resumed", **place, seq=self.seq)
            for update in answer["updates"]:
                self._deliver(update["event"], update["data"])
            if self.seq != answer["seq"]:
                self.world.violation(f"{self.name} was brought to {self.seq} instead of {answer['seq']}")
        else:
            self._snapshot(answer, answer["elements"])
        for commit in self.pending.values():
            commit.line = None

    def _is_in(self):
        self.is_joined = True
        self.joins += 1

    def _part(self, data):
        """Some elements of a room that comes in parts; it has joined with the last."""
        if self.partial is None:
            return self.world.violation(f"{self.name} got a part of no room: {data['part']} of {data['parts']}")
        answer, elements = self.partial
        elements += data["elements"]
        if data["part"] == answer["parts"]:
            self.partial = None
            self._is_in()
            self._snapshot(answer, elements)
            self.changed.set()

    def _snapshot(self, answer, elements, **more):
        self.world.counts["snapshots"] += 1
        self.seq = answer["seq"]
        self.elements = {element["id"]: element for element in elements}
        self.history.add(
            "snapshot", client=self.name, room=self.room, epoch=self.epoch, seq=self.seq,
            elements=bodies(self.elements), **more)

    def _send_pending(self):
        now = asyncio.get_running_loop().time()
        if now < self.hold_until or not self.is_joined:
            return
        for commit in self.pending.values():
            if commit.line is self.line:
                continue
            commit.line = self.line
            commit.first_line = commit.first_line or self.line
            payload = {"roomId": self.room, **commit.payload, "n": commit.n}
            # Sometimes the same more than once, as after an answer that came too late.
            copies = self.random.randint(2, 5) if self.random.random() < COPIES else 1
            self.world.counts["repeats"] += copies - 1
            with self.line.one_write():
                for _ in range(copies):
                    self.ask(commit.event, payload, commit.n)

    def _close_if_silent(self):
        """Nothing from the server for too long, not even a ping: the line is dead, whatever it looks like."""
        if self.line and asyncio.get_running_loop().time() - self.line.heard > self.line.patience:
            self.line.close()
            return True
        return False

    def _look_at_the_clock(self):
        """The line is silent, or an answer is missing."""
        now = asyncio.get_running_loop().time()
        due = (sent for sent, event, n in self.asked.values() if n is not None or event not in UNNUMBERED)
        oldest = next(due, now)
        if not self._close_if_silent() and now - oldest > ANSWER_WITHIN:
            self._hang_up()

    # What the hand asks for

    @property
    def may_commit(self):
        return self.is_joined and not self.is_stopping and not self.world.is_calm and len(self.pending) < WINDOW

    def commit(self, event, payload, targets, request=None, gesture=None):
        """Keeps a commit until its answer and sends it as soon as it can. It is to change all `targets` or nothing;
        `request` is what must result, by id, as far as that is known."""
        self.n += 1
        commit = Commit(self.n, event, payload, asyncio.get_running_loop().time())
        self.pending[self.n] = commit
        more = {} if gesture is None else {"gesture": gesture}
        undo = "none" if payload.get("undoable") is False else payload.get("undoGroup")
        if undo:
            more["undo"] = undo
        self.history.add(
            "invoke", client=self.name, user=self.user, room=self.room, session=self.sid, n=self.n, event=event,
            targets=targets, request=request or {}, **more,
        )
        self.world.invoked(self.room)
        self._send_pending()

    def leave_and_join(self):
        """Leaves the room and joins it again in one go; or joins once more first."""
        self.world.counts["left and joined"] += 1
        self.history.add("left", client=self.name, room=self.room, chosen=True)
        self.has_left = True
        self.is_joined = False
        self._show_nothing()
        with self.line.one_write():
            if self.random.random() < 0.5:
                self.ask_to_join()
            self.ask("room:leave", {"roomId": self.room})
            self.ask_to_join()
        self.changed.set()

    def burst(self, element):
        """Sends commits without numbers, more than may be without a result."""
        self.world.counts["bursts"] += 1
        with self.line.one_write():
            for _ in range(self.random.randint(2, 40)):
                payload = {"roomId": self.room, "elementId": element, "set": {"zIndex": self.random.randint(100, 200)}}
                self.ask("element:update", payload)

    def look(self, view):
        """Sees a part of the canvas from now on; None: everything."""
        self.history.add("look", client=self.name, room=self.room)
        x, y, width, height = (view[name] for name in ("x", "y", "width", "height")) if view else (0, 0, 0, 0)
        self._show("viewport:set", view or {}, "view", {"box": [x, y, x + width, y + height]} if view else {})

    def select(self, elements):
        """Selects these elements and no others."""
        self._show("selection:set", {"elementIds": elements}, "selected", {"body": " ".join(elements)})

    def _show(self, event, payload, kind, record):
        """Asks for what is never stored; the record follows its acknowledgement."""
        self.world.counts["shown"] += 1
        self.showing[self.ask(event, {"roomId": self.room, **payload})] = kind, record

    def point(self, x, y):
        """Moves the cursor; hides it when both are None."""
        self.world.counts["shown"] += 1
        cursor = {"x": x, "y": y}
        self.cursor = point(cursor)
        self.history.add("pointed", client=self.name, room=self.room, body=self.cursor)
        self.line.emit("cursor:moving", {"roomId": self.room, **cursor})

    def preview(self, event, elements, gesture, payload):
        for element in elements:
            place = box(payload, self.elements.get(element))
            self.history.add(
                "preview-sent", client=self.name, room=self.room, element=element, gesture=gesture, body=value(payload),
                **place,
            )
        self.line.emit(event, {"roomId": self.room, "gesture": gesture, **payload})

    def die(self):
        """The app ends with everything that it held, and somebody opens it again."""
        if self.line:
            self.line.close()
        self.history.add("closed", client=self.name)
        self.is_joined = False
        self._show_nothing()
        for commit in self.pending.values():
            self.history.add("lost", client=self.name, room=self.room, session=self.sid, n=commit.n)
            self.world.settled(commit, self.room)
        if self.sid:
            self.history.add("left", client=self.name, room=self.room, chosen=True)
        self.deaths += 1
        self.name = f"{self.user}.{self.deaths}"
        self.begin()
