"""The last scene of a run, when all faults are over: parts of the canvas are looked at, elements are dragged through them
and left in the air, and somebody comes to see who points where."""

import asyncio
import time

from client import App
from hand import Hand, value
from history import point

# How long the checker waits after a fault, or after something was shown, until it is certain; seconds.
CERTAIN = 5.1
SIZE = 2000


class Witness(App):
    """Joins a room once, and keeps what it is told of the others."""

    told = None

    def _joined(self, answer):
        super()._joined(answer)
        people = self.world.people
        # An old app does not know its session, and what clients do is not recorded.
        others = self.world.old_users | set(self.world.persons.users)
        connections = [
            (people.get(connection["sid"], connection["sid"]), connection)
            for member in answer["members"] if member["userId"] not in others
            for connection in member["connections"]
        ]
        self.told = {
            "targets": [name for name, _ in connections],
            "cursors": {
                name: point(connection["cursor"]) for name, connection in connections if "cursor" in connection
            },
            "selections": {
                name: " ".join(connection["selection"]) for name, connection in connections if connection.get("selection")
            },
        }


class Scene:
    """What happens in one room: two apps look at a part of the canvas and one far away, two drag a note each."""

    def __init__(self, world, room, members):
        self.world = world
        self.room = room
        self.viewers, self.late, self.publishers, self.others = members[:2], members[2], members[3:5], members[5:]
        self.random = world.random
        self.x, self.y = self.random.randint(-9, 9) * 1000, self.random.randint(-9, 9) * 1000
        self.notes = []
        # The last preview of the note that stays in view.
        self.last = None

    @property
    def view(self):
        return {"x": self.x, "y": self.y, "width": SIZE, "height": SIZE}

    @property
    def members(self):
        return [*self.viewers, self.late, *self.publishers, *self.others]

    def prepare(self):
        """Viewports and selections are set, and each publisher makes its note. Some keep the selection that they have."""
        for viewer in self.viewers:
            viewer.look(self.view)
        self.late.look({**self.view, "x": self.x + 50_000})
        for app in [*self.publishers, *self.others]:
            app.look(None)
        for publisher in self.publishers:
            hand = Hand(publisher)
            name = hand._new_name()
            element, request = hand._new("note", name)
            self.notes.append(name)
            publisher.commit("element:create", {"element": element}, [name], {name: request})
        for app in self.members:
            if self.random.random() < 0.5:
                app.select(self.random.sample(self.notes, self.random.randint(0, 2)))

    def point(self):
        for app in self.members:
            app.point(self.x + self.random.randint(0, SIZE), self.y + self.random.randint(0, SIZE))

    async def drag(self):
        """One note goes out of view and comes back, the other one stays out. No finger is lifted."""
        for publisher in self.publishers:
            publisher.gesture += 1
        for step, distance in enumerate([0, 0, 9000, 9000, 9000, 9000, 9000, 0, 0, 0]):
            self.last = self._move(0, distance, step)
            self._move(1, distance if step < 7 else 9000, step)
            await asyncio.sleep(0.05)
        self.late.look(self.view)

    def _move(self, number, distance, step):
        payload = {
            "elementId": self.notes[number], "positionX": self.x + SIZE // 2 + distance + step,
            "positionY": self.y + SIZE // 2, "transform": {"rotation": 10 * step, "scaleX": 1, "scaleY": 1},
        }
        self.publishers[number].preview("element:transforming", [self.notes[number]], self.publishers[number].gesture, payload)
        return value(payload)

    @property
    def is_seen(self):
        """True when everybody who looks there has the note where it was dragged."""
        witnesses = [*self.viewers, self.late, self.publishers[1], *self.others]
        return all(app.seen.get(self.notes[0]) == self.last for app in witnesses)

    @property
    def are_cursors_seen(self):
        """True when all who see everything have all cursors."""
        shown = {app.sid: app.cursor for app in self.members}
        return all(
            seen.cursors.get(sid, "") == cursor
            for seen in self.others for sid, cursor in shown.items() if sid != seen.sid
        )


class Looks:
    """The scene, in all rooms at the same time."""

    def __init__(self, world):
        self.world = world
        self.witnesses = []

    async def play(self, healed):
        """When nobody else does anything; `healed` is when the last fault ended."""
        world = self.world
        rooms = {}
        for app in world.apps:
            if type(app) is App:
                rooms.setdefault(app.room, []).append(app)
        scenes = [Scene(world, room, members) for room, members in rooms.items() if len(members) >= 5]
        for scene in scenes:
            scene.prepare()
        await world.until("everybody has its viewport", lambda: not any(app.asked for app in world.apps), 10)
        await asyncio.gather(
            asyncio.sleep(max(healed, time.monotonic()) + CERTAIN - time.monotonic()), self._links_hold()
        )
        for scene in scenes:
            scene.point()
        await asyncio.gather(*(scene.drag() for scene in scenes))
        await world.until("everybody sees what is in view", lambda: all(scene.is_seen for scene in scenes), 10)
        await world.until("everybody sees all cursors", lambda: all(scene.are_cursors_seen for scene in scenes), 10)
        await self._ask(rooms)

    async def _links_hold(self, within=30):
        """Waits until no link between daemons was lost for as long as the checker needs to be certain. A gateway without
        the room's fan-out turns to another one, where it finds those people only who come through others like it.
        Returns how many times links were opened again so far; None when they do not hold."""
        end = time.monotonic() + within
        opened, since = None, 0.0
        while time.monotonic() < end:
            now, before = time.monotonic(), opened
            opened = await self.world.cluster.links()
            if opened is None or opened != before:
                since = now
            elif now - since > CERTAIN:
                return opened
            await asyncio.sleep(0.25)
        return None

    async def _ask(self, rooms):
        """Somebody comes into each room and is told who is there; others do when a link was lost meanwhile."""
        for attempt in range(3):
            opened = await self._links_hold()
            witnesses = await asyncio.gather(*(self._witness(room, attempt) for room in rooms))
            if opened is not None and opened == await self.world.cluster.links():
                break
        else:
            self.world.violation("links between daemons were lost again and again although there were no faults")
        for witness in filter(None, witnesses):
            await self._find_out(witness, rooms[witness.room])
            witness.history.add("people", client=witness.name, room=witness.room, **witness.told)

    async def _witness(self, room, attempt):
        witness = Witness(f"witness-{room}.{attempt}", room, self.world, f"witness/{room}", through_proxy=False)
        self.witnesses.append(witness)
        if await witness._connect() and await witness._join():
            return witness
        self.world.violation(f"{witness.name} could not join")
        return None

    async def _find_out(self, witness, members):
        """Says of those whom a witness was not told of where they are, and what each fan-out knows, before that is
        gone. The checker judges."""
        missing = [app for app in members if app.is_joined and app.name not in witness.told["targets"]]
        for app in missing:
            print(f"chaos: {witness.name} at {witness.line.address} is not told of {app.name}, user {app.user}, session"
                  f" {app.sid}, at {app.line.address}", flush=True)
        if missing:
            print(f"chaos: {witness.room} by fan-outs: {await self.world.cluster.room(witness.room)}", flush=True)
