"""The person before the screen: drags, drops, makes and throws away elements."""

import asyncio

EVERYBODYS = "hot"
# How often somebody does what waits for no answer before the next request.
LEAVES = 0.02
BURSTS = 0.02


def value(preview):
    """A preview's fields as text."""
    transform = preview.get("transform") or {}
    fields = [preview.get("positionX"), preview.get("positionY")]
    fields += [transform.get(name) for name in ("rotation", "scaleX", "scaleY")]
    return " ".join("-" if field is None else f"{field:.10g}" for field in fields)


def stored(payload):
    """The state that a whole transform of a note of 100 by 100 must result in, as `history.body` writes it."""
    transform = payload["transform"]
    fields = [
        payload["positionX"], payload["positionY"], 100 * transform["scaleX"], 100 * transform["scaleY"],
        transform["rotation"], transform["scaleX"], transform["scaleY"],
    ]
    return " ".join(f"{field:.10g}" for field in fields)


class Hand:
    """One app's work. Everything that it sends is in range, so what has to become of it is known before."""

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
                self._create(EVERYBODYS if not self.app.elements.get(EVERYBODYS) else None)
            else:
                await self._act()

    async def _act(self):
        habit = self.random.random()
        if habit < LEAVES and not self.app.pending:
            return self.app.leave_and_join()
        if LEAVES < habit < LEAVES + BURSTS:
            return self.app.burst(EVERYBODYS if self.app.elements.get(EVERYBODYS) else self.own)
        dice = self.random.random()
        element = EVERYBODYS if dice < 0.2 else self.own
        if dice > 0.97:
            self.own = None
            return self.app.commit("element:delete", {"elementId": element}, element, "")
        gesture = None
        if dice < 0.5:
            self.app.gesture += 1
            gesture = self.app.gesture
            await self._drag(element, gesture)
        if self.app.may_commit and (gesture is None or gesture == self.app.gesture):
            payload = {"elementId": element, **self._transform()}
            if gesture is not None:
                payload["gesture"] = gesture
            self.app.commit("element:transform", payload, element, stored(payload), gesture)

    async def _drag(self, element, gesture):
        for _ in range(self.random.randint(2, 6)):
            if self.app.is_joined and gesture == self.app.gesture:
                self.app.preview(element, gesture, self._transform())
            await asyncio.sleep(0.03)

    def _create(self, name=None):
        self.app.made += 1
        if name is None:
            name = self.own = f"{self.app.name}-{self.app.made}"
        payload = self._transform()
        flat = {"positionX": payload["positionX"], "positionY": payload["positionY"], **payload["transform"]}
        self.app.commit(
            "element:create",
            {"element": {"type": "note", "id": name, "originalWidth": 100, "originalHeight": 100, **flat}}, name,
            stored(payload),
        )

    def _transform(self):
        """Never the same twice, so that a commit can be told by what it left behind."""
        self.app.world.moves += 1
        moves = self.app.world.moves
        return {
            "positionX": moves, "positionY": self.random.randint(-1000, 1000),
            "transform": {
                "rotation": self.random.randrange(720) / 2, "scaleX": self.random.randint(2, 20) / 4,
                "scaleY": self.random.randint(2, 20) / 4,
            },
        }
