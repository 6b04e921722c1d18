"""An app of the 1.0 contract: it names its room when it connects, never joins, and numbers nothing."""

import asyncio
import contextlib

from client import App
from hand import Hand
from history import body

# What it can be told, as the history calls it.
EVENTS = {"element:created": "created", "element:transformed": "transformed", "element:deleted": "deleted"}
# Fields of some updates that the end of a gesture without a commit never has.
OF_UPDATES = ("n", "gesture", "part")


class OldApp(App):
    """Nobody tells it where the room stands: it knows what it has seen since it connected. Its commits are lost with its
    connection, or not; nobody ever knows."""

    @property
    def auth(self):
        return {**super().auth, "roomId": self.room, "batches": False}

    def hand(self):
        return OldHand(self)

    def opened(self):
        # Whatever it had on another line is over, also when the end of that line was not noticed in the room.
        self.history.add("left", client=self.name, room=self.room)
        self.is_joined = True
        self.has_place = False
        # The numbers that it was acknowledged, and what it was told before it knew if that was an update.
        self.applied, self.untold = set(), {}
        self.elements = {}
        super().opened()

    def answered(self, number, data):
        super().answered(number, data)
        self.applied.add(data.get("seq"))
        update = self.untold.pop(data.get("seq"), None)
        if update and not self.has_place:
            self._told("transformed", update)

    def event(self, name, data):
        if not isinstance(data, dict) or data.get("roomId") not in (None, self.room):
            return self.world.violation(f"{self.name} in {self.room} got {name} {data}")
        if name in EVENTS:
            self._told(EVENTS[name], data)
        elif name in ("elements:transformed", "elements:created", "element:updated", "elements:updated", "gesture:ended",
                      "room:resync"):
            self.world.violation(f"{self.name} got {name}, which 1.0 does not know")

    def _told(self, event, data):
        element = data.get("element") or data
        name = data["elementId"] if event == "deleted" else element["id"]
        state = "" if event == "deleted" else body(element)
        if event == "transformed" and not any(field in data for field in OF_UPDATES):
            # The end of a gesture repeats what the app has seen already, or what an update did that it does not get:
            # the judge knows. Before the first update nobody can tell, but of the app's own commit by its answer.
            if self.has_place:
                event = "ended" if data["seq"] <= self.seq else "shown"
            elif data["seq"] not in self.applied:
                self.untold[data["seq"]] = data
                return
        more = {field: data[field] for field in ("part", "parts") if field in data}
        self.history.add(
            "legacy", client=self.name, room=self.room, seq=data["seq"], event=event, element=name, body=state, **more
        )
        self.has_place = self.has_place or event != "ended"
        self.world.counts["old.ends" if event == "ended" else "old.parts" if more else "old.events"] += 1
        self.seq = max(self.seq, data["seq"])
        if event == "deleted":
            self.elements.pop(name, None)
        else:
            self.elements[name] = element

    async def run(self):
        work = asyncio.get_running_loop().create_task(self.hand().work())
        try:
            while not (self.is_stopping and self.is_joined and not self.asked):
                if self.line is None or self.line.transport.is_closing():
                    self.is_joined = False
                    if not await self._connect():
                        await asyncio.sleep(self.random.uniform(0.1, 0.4))
                        continue
                self._look_at_the_clock()
                self.changed.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.changed.wait(), 0.25)
        finally:
            work.cancel()

    def says(self, event, payload):
        """Asks for an answer half of the time, as both is usual."""
        payload = {"roomId": self.room, **payload}
        if self.random.random() < 0.5:
            self.ask(event, payload)
        else:
            self.line.emit(event, payload)


class OldHand(Hand):
    async def work(self):
        while not self.app.is_stopping:
            await asyncio.sleep(self.random.expovariate(1 / self.app.world.pause))
            if not self.app.may_commit:
                continue
            if self.own not in self.app.elements or self.random.random() < 0.05:
                element, _ = self._new("note", self._new_name())
                self.own = element["id"]
                self.app.says("element:create", {"element": element})
            else:
                await self._drag(self.random.choice(list(self.app.elements)))

    async def _drag(self, element):
        for _ in range(self.random.randint(0, 4)):
            if not self.app.is_joined:
                return
            self.app.line.emit("element:transforming", {"roomId": self.app.room, **self._payload(element)})
            await asyncio.sleep(0.03)
        # Some fingers never lift.
        if self.app.may_commit and self.random.random() < 0.9:
            self.app.says("element:transform", self._payload(element))

    def _payload(self, element):
        return {"elementId": element, **self._transform(element)}
