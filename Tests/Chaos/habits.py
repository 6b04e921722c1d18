"""What somebody does with a client: one edit or several at a time, none of whose results is waited for."""

import asyncio

NOBODYS = "nobody's"


class Habits:
    """One person's work, as the driver's commands and as what they are on the wire."""

    def __init__(self, person):
        self.person = person
        self.random = person.random
        # What it makes is told by its number.
        self.made = 0
        self.deck = []

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

    def _edit(self, event, body, method, *arguments):
        self.person.edit(event, body, "edit", self.person.room, method, *arguments)

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
            "id": f"{self.person.user}-{self.made}", "type": "note", "originalWidth": 100, "originalHeight": 100,
            **self._place(), "content": f"made by {self.person.user}",
        }

    def _place(self):
        """A position that nobody else gives to anything."""
        self.person.people.places += 1
        return {"positionX": -self.person.people.places, "positionY": self.random.randint(-1000, 1000)}

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
            self.person.cut()
        for _ in range(self.random.randint(2, 4)):
            await self._transform(name)

    async def _transform_several(self):
        entries = [(name, self._place()) for name in self._some()]
        body = {"elements": [{"elementId": name, **place} for name, place in entries]}
        self._edit("elements:transform", body, "transformAll", body["elements"])

    async def _update(self):
        name = self._any()
        self.made += 1
        body = {"elementId": name, "set": {"content": f"{self.person.user} wrote {self.made}"}}
        self._edit("element:update", body, "update", name, body["set"])

    async def _turn(self):
        name, preset = self._any(), self.random.choice(["rotateCW", "rotateCCW", "rotate180"])
        self._edit("element:preset", {"elementId": name, "preset": preset}, "preset", name, preset)

    async def _drag(self):
        name = self._any()
        await self._gesture("element:gesture", {"elementId": name}, name)

    async def _drag_several(self):
        names = self._some()
        # A room may have no other; clients make a gesture of one element of it.
        if len(names) == 1:
            return await self._gesture("element:gesture", {"elementId": names[0]}, names)
        await self._gesture("elements:gesture", {"elements": names}, names)

    async def _change_their_mind(self):
        name = self._any()
        await self._gesture("element:gesture", {"elementId": name}, name, is_meant=False)

    async def _gesture(self, event, body, ids, is_meant=True):
        """Fingers touch elements, move for a while, and are lifted."""
        self.made += 1
        run, name, shift = self.person.run, f"g{self.made}", self._shift()
        self.person.note("touched", gesture=name, ids=[ids] if isinstance(ids, str) else ids)
        self.person.process.call("begin", self.person.room, name, ids)
        for step in (0.3, 0.7, 1):
            moved = {axis: round(distance * step) for axis, distance in shift.items()}
            self.person.process.call("gesture", name, "update", {"translation": moved})
            await asyncio.sleep(self.random.uniform(0.02, 0.2))
            if self.person.run != run:
                return
        if is_meant:
            self.person.edit(event, {**body, "translation": shift}, "gesture", name, "end")
            self.person.note("lifted", gesture=name)
        else:
            self.person.open[self.person.process.call("gesture", name, "cancel")] = "lift", name

    def _shift(self):
        """A movement that this person never made before, nor will soon."""
        self.person.people.shifts += 1
        number = self.person.people.shifts * 4001 % 9409
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
        """Several edits at once; the last one is refused."""
        acts = [self._transform, self._update, self._turn, self._transform]
        for act in [self._create, *self.random.sample(acts, 2), self._err]:
            await act()

    # What there is, as it was seen last

    def _mine(self):
        names = [each["id"] for each in self.person.seen["elements"] if each["id"].startswith(f"{self.person.user}-")]
        self.random.shuffle(names)
        return names

    def _all(self):
        """Annotations are left to apps."""
        return [each["id"] for each in self.person.seen["elements"] if "parentId" not in each]

    def _any(self):
        names = self._mine() if self.random.random() < 0.5 else self._all()
        return self.random.choice(names or [NOBODYS])

    def _some(self):
        names = self._all()
        return self.random.sample(names, min(len(names), self.random.randint(2, 4))) or [NOBODYS]
