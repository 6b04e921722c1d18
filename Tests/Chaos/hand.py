"""The person before the screen: drags, drops, makes and throws away elements."""

import asyncio

EVERYBODYS = "hot"
# How often somebody does what waits for no answer before the next request.
LEAVES = 0.02
BURSTS = 0.02
UNDOS = 0.06
GLANCES = 0.08
ANIMATIONS = 0.06
HALTS = 0.06
PRESETS = ["rotateCW", "rotateCCW", "rotate180", "flipX", "flipY", "reset"]


def value(preview):
    """A preview's fields as text."""
    transform = preview.get("transform") or {}
    fields = [preview.get("positionX"), preview.get("positionY")]
    fields += [transform.get(name) for name in ("rotation", "scaleX", "scaleY")]
    return " ".join("-" if field is None else f"{field:.10g}" for field in fields)


def stored(payload):
    """The geometry that a whole transform of a note of 100 by 100 must result in, as `history.geometry` writes it."""
    transform = payload["transform"]
    fields = [
        payload["positionX"], payload["positionY"], 100 * transform["scaleX"], 100 * transform["scaleY"],
        transform["rotation"], transform["scaleX"], transform["scaleY"],
    ]
    return " ".join(f"{field:.10g}" for field in fields)


class Hand:
    """One app's work. Everything that it sends is in range, so what has to become of it is known before, unless it
    depends on the stored state."""

    def __init__(self, app):
        self.app = app
        self.random = app.random
        self.own = None

    async def work(self):
        """Until it is cancelled or the app is to stop."""
        while not self.app.is_stopping:
            await asyncio.sleep(self.random.expovariate(1 / self.app.world.pause))
            if self.app.is_stopping or not self.app.may_commit:
                continue
            if self.own is None or not self.app.elements:
                self._create(EVERYBODYS if EVERYBODYS not in self.app.elements else None)
            else:
                await self._act()

    async def _act(self):
        habit = self.random.random()
        if habit < LEAVES and not self.app.pending and self.app.world.may_leave:
            return self.app.leave_and_join()
        if LEAVES < habit < LEAVES + BURSTS:
            return self.app.burst(EVERYBODYS if EVERYBODYS in self.app.elements else self.own)
        if self.random.random() < GLANCES:
            return self._look_and_point()
        if self.random.random() < UNDOS:
            return self._undo_and_redo()
        if self.random.random() < ANIMATIONS:
            return self._animate()
        if self.random.random() < HALTS:
            return self._halt()
        dice = self.random.random()
        if dice > 0.97:
            self._delete()
        elif dice > 0.90:
            self._annotate()
        elif dice > 0.72:
            await self._move_group(self._group())
        else:
            await self._move(EVERYBODYS if self.random.random() < 0.2 else self.own)

    def _undo_and_redo(self):
        for event, most in (("history:undo", 3), ("history:redo", 2)):
            for _ in range(self.random.randint(0, most)):
                if self.app.may_commit:
                    self.app.commit(event, {}, [])

    def _look_and_point(self):
        """Looks at a part of the canvas or at all of it, points somewhere or nowhere, selects something or nothing."""
        x, y = self.random.randint(-1000, 1000), self.random.randint(-1000, 1000)
        self.app.look(self.random.choice([{"x": x, "y": y, "width": 800, "height": 600}, None]))
        self.app.point(*self.random.choice([(x, y), (None, None)]))
        self.app.select(self.random.sample(list(self.app.elements), self.random.randint(0, min(3, len(self.app.elements)))))

    def _commit(self, event, payload, targets, request=None, gesture=None):
        """Sometimes as a program's change, or as one of a group."""
        dice = self.random.random()
        if dice < 0.1:
            payload["undoable"] = False
        elif dice < 0.3:
            payload["undoGroup"] = self.random.choice(["paste", "drag"])
        self.app.commit(event, payload, targets, request, gesture)

    # Moves

    async def _move(self, element):
        gesture = await self._touch([element])
        if not self._may_lift(gesture):
            return
        dice = self.random.random()
        payload = {"elementId": element}
        if dice < 0.2:
            self._lift("element:throw", {**payload, **self._velocity()}, [element], gesture)
        elif dice < 0.7:
            payload |= self._transform(element) | self._motion()
            self._lift("element:transform", payload, [element], gesture, {element: stored(payload)})
        elif dice < 0.85:
            # What moves about another anchor does so at once.
            how = {"anchor": {"x": 0.25, "y": 1}} if self.random.random() < 0.5 else self._motion()
            self._lift("element:gesture", payload | self._deltas() | how, [element], gesture)
        else:
            payload |= {"preset": self.random.choice(PRESETS)} | self._motion()
            self._lift("element:preset", payload, [element], gesture)

    async def _move_group(self, group):
        gesture = await self._touch(group)
        if not self._may_lift(gesture):
            return
        # A pivot is on the canvas, where annotations are not.
        on_canvas = [name for name in group if not self._is_annotation(name)]
        dice = self.random.random()
        if dice < 0.5 or not on_canvas:
            targets = self._with_stranger(group)
            items = [{"elementId": name, **self._transform(name)} for name in targets]
            request = {item["elementId"]: stored(item) for item in items}
            self._lift("elements:transform", {"elements": items, **self._motion()}, targets, gesture, request)
            return
        targets = self._with_stranger(on_canvas)
        if dice < 0.7:
            items = [{"elementId": name} for name in targets]
            self._lift("elements:throw", {"elements": items, **self._velocity()}, targets, gesture)
        else:
            payload = {"elements": targets, "pivot": {"x": self.random.randint(-100, 100), "y": 0}, **self._deltas()}
            self._lift("elements:gesture", {**payload, **self._motion()}, targets, gesture)

    async def _touch(self, elements):
        """Sometimes shows previews before the commit: their gesture, which it will end."""
        if self.random.random() < 0.5:
            return None
        self.app.gesture += 1
        gesture = self.app.gesture
        for _ in range(self.random.randint(2, 6)):
            if self.app.is_joined and gesture == self.app.gesture:
                self._show(elements, gesture)
            await asyncio.sleep(0.03)
        return gesture

    def _show(self, elements, gesture):
        """A preview of one of the elements, or of all of them together."""
        on_canvas = [name for name in elements if not self._is_annotation(name)]
        if len(on_canvas) > 1 and self.random.random() < 0.5:
            payload = {"elements": on_canvas, "pivot": {"x": self.random.randint(-100, 100), "y": 0}, **self._deltas()}
            return self.app.preview("elements:gesturing", on_canvas, gesture, payload)
        element = self.random.choice(elements)
        if self.random.random() < 0.3:
            payload = {"elementId": element, **self._deltas()}
            return self.app.preview("element:gesturing", [element], gesture, payload)
        payload = {"elementId": element, **self._transform(element)}
        self.app.preview("element:transforming", [element], gesture, payload)

    def _may_lift(self, gesture):
        return self.app.may_commit and gesture in (None, self.app.gesture)

    def _lift(self, event, payload, targets, gesture, request=None):
        if gesture is not None:
            payload["gesture"] = gesture
        self._commit(event, payload, targets, request, gesture)

    # What moves by itself

    def _animate(self):
        """Of fields that nothing else changes, and for ever: what ends of itself is told from what is taken back by the
        clock only."""
        track = [{"at": 0.5, "value": self.random.choice([0, 0.25])}]
        animation = {
            "ms": self.random.randint(200, 2000), "iterations": "infinite", "composite": self.random.choice(["replace", "add"]),
            "tracks": {"opacity": track},
        }
        self._of_some("animate", {"animation": self.random.choice([animation, animation, None])})

    def _halt(self):
        """Catches what flies."""
        self._of_some("halt", {"fields": ["positionX", "positionY"]})

    def _of_some(self, what, payload):
        """Asks for something of one element or of several."""
        names = self._group()
        if len(names) == 1 or self.random.random() < 0.5:
            return self._commit(f"element:{what}", {"elementId": names[0], **payload}, names[:1])
        names = self._with_stranger(names)
        self._commit(f"elements:{what}", {"elements": names, **payload}, names)

    def _motion(self):
        """How the eye gets to where something is moved; half of the time at once."""
        spring = {"response": 0.3, "velocity": {"positionX": self.random.randint(-900, 900)}}
        motions = [{"ms": self.random.randint(1, 3000)}, {"spring": spring, "turn": "cw"}]
        return {"motion": self.random.choice(motions)} if self.random.random() < 0.5 else {}

    def _velocity(self):
        """Of a throw that goes some hundred pixels at most."""
        return {"velocity": {axis: self.random.randint(-2000, 2000) for axis in "xy"}, "rate": 0.99}

    # Elements come and go

    def _create(self, name=None):
        if name is None:
            name = self.own = self._new_name()
        element, request = self._new("note", name)
        self._commit("element:create", {"element": element}, [name], {name: request})

    def _annotate(self):
        """Annotations of its own element: one, or several together with another element."""
        marks = [self._new("text", self._new_name(), self.own) for _ in range(self.random.randint(1, 3))]
        if len(marks) == 1:
            element, request = marks[0]
            return self._commit("element:create", {"element": element}, [element["id"]], {element["id"]: request})
        marks.append(self._new("note", self._new_name()))
        requests = {element["id"]: request for element, request in marks}
        self._commit("elements:create", {"elements": [element for element, _ in marks]}, list(requests), requests)

    def _delete(self):
        """Its own element, alone or with others that it has made; annotations go with what they belong to."""
        own, self.own = self.own, None
        if self.random.random() < 0.5:
            return self._commit("element:delete", {"elementId": own}, [own], {own: ""})
        others = [name for name in self.app.elements if name.startswith(f"{self.app.name}-") and name != own]
        targets = self._with_stranger([own, *self.random.sample(others, min(len(others), 4))])
        self._commit("elements:delete", {"elementIds": targets}, targets, dict.fromkeys(targets, ""))

    def _new_name(self):
        self.app.made += 1
        return f"{self.app.name}-{self.app.made}"

    def _new(self, kind, name, parent=None):
        """An element as it is sent, and the geometry that it must get."""
        place = {"parentId": parent, "space": "normalized"} if parent else {}
        payload = self._transform(name, is_annotation=parent is not None)
        flat = {"positionX": payload["positionX"], "positionY": payload["positionY"], **payload["transform"]}
        element = {"type": kind, "id": name, "originalWidth": 100, "originalHeight": 100, **place, **flat}
        return element, stored(payload)

    # Choosing

    def _group(self):
        """Two to five elements of the room, if it has as many."""
        names = list(self.app.elements)
        return self.random.sample(names, min(len(names), self.random.randint(2, 5)))

    def _with_stranger(self, names):
        """Sometimes with an element that never existed: then nothing of the group may change."""
        if self.random.random() < 0.15:
            names = [*names, "nobody's"]
            self.random.shuffle(names)
        return names

    def _is_annotation(self, name):
        return "parentId" in self.app.elements.get(name, {})

    def _transform(self, name, is_annotation=None):
        """Never the same twice, so that a commit can be told by what it left behind."""
        if is_annotation is None:
            is_annotation = self._is_annotation(name)
        self.app.world.moves += 1
        moves = self.app.world.moves
        x, y = moves, self.random.randint(-1000, 1000)
        return {
            "positionX": x % 10000 / 10000 if is_annotation else x, "positionY": abs(y) / 1000 if is_annotation else y,
            "transform": {
                "rotation": self.random.randrange(720) / 2, "scaleX": self.random.randint(2, 20) / 4,
                "scaleY": self.random.randint(2, 20) / 4, "rotationX": self.random.randrange(720) / 2,
            },
        }

    def _deltas(self):
        """What two fingers did to an element, small enough to keep it in range for long."""
        return {
            "translation": {"x": self.random.randint(-50, 50), "y": self.random.randint(-50, 50)},
            "scale": self.random.choice([0.5, 0.8, 1.25, 2]), "rotation": self.random.randint(-400, 400),
            "tilt": {"x": self.random.randint(-400, 400), "y": 0},
        }
