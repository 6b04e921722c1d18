"""Windows of the canvas at `/`, in a room, and what tests put there."""

import json

import requests

from page import Page
from pipeline import PROGRAMS, eventually

# Where the pictures of the last run lie.
PICTURES = PROGRAMS.resolve() / "pictures"
SHIFT, CTRL, ALT = 8, 2, 1


class Canvas(Page):
    """A window of the canvas in a room."""

    def __init__(self, browser, pipeline, room, **more):
        self.pipeline, self.room = pipeline, room
        super().__init__(browser, f"{pipeline.url}/?room={room}", **more)
        self.wait("it is in the room", "document.getElementById('state').textContent.includes(' here')")
        # Hints come once, at their own time.
        self.ask("localStorage.setItem('touchsync hinted', 'true')")

    @property
    def stored(self):
        """The room's elements by id, from PostgreSQL."""
        answer = requests.get(f"{self.pipeline.url}/api/rooms/{self.room}", timeout=10)
        return {element["id"]: element for element in answer.json().get("elements", [])}

    @property
    def seq(self):
        return requests.get(f"{self.pipeline.url}/api/rooms/{self.room}", timeout=10).json()["seq"]

    def shows(self, count):
        self.wait(f"it shows {count} elements", f"document.querySelectorAll('.element').length === {count}")

    def seen(self, id):
        """What is drawn of an element: middle, width and height as laid out, scale and degrees."""
        return self.ask(f"""(() => {{
            const node = document.querySelector('.element[data-id={json.dumps(id)}]');
            if (!node) return null;
            const box = node.getBoundingClientRect(), map = new DOMMatrix(getComputedStyle(node).transform);
            return {{ x: box.x + box.width / 2, y: box.y + box.height / 2, scale: Math.hypot(map.a, map.b),
                rotation: (Math.atan2(map.b, map.a) * 180 / Math.PI + 360) % 360, classes: node.className }};
        }})()""")

    def middle(self, id):
        seen = self.seen(id)
        return seen["x"], seen["y"]

    def handle(self, name):
        return tuple(self.ask(f"""(() => {{
            const box = document.querySelector('[data-handle={name}]').getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()"""))

    def on_screen(self, element):
        """Where a stored element belongs in this window."""
        camera = json.loads(self.ask(f"sessionStorage.getItem('touchsync camera {self.room}')"))
        return tuple((element[f"position{axis.upper()}"] - camera[axis]) * camera["zoom"] for axis in "xy")

    def agrees(self, id, within=10):
        """Waits until the window shows an element where the room has it."""

        def do_agree():
            seen, stored = self.seen(id), self.stored.get(id)
            if not seen or not stored:
                return False
            x, y = self.on_screen(stored)
            turn = abs((seen["rotation"] - stored["rotation"] + 180) % 360 - 180)
            return (abs(seen["x"] - x) < 1.5 and abs(seen["y"] - y) < 1.5 and turn < 0.5
                    and abs(seen["scale"] - abs(stored["scaleX"])) < 0.01)

        eventually(f"{id} is drawn where it is stored: {self.seen(id)}, {self.stored.get(id)}", do_agree, within)

    def select(self, id):
        self.click(*self.middle(id))
        self.wait("it has a frame", "document.querySelector('.frame').hidden === false")

    def select_nothing(self):
        self.ask("document.getElementById('canvas').focus()")
        self.key("Escape")


def create(single, room, *elements):
    """Puts elements into a room, before anybody looks."""
    answer = requests.post(f"{single.url}/api/rooms/{room}/elements", json={"elements": list(elements)}, timeout=10)
    assert answer.status_code == 201, answer.text


def note(id, x, y, **more):
    return {"id": id, "type": "note", "content": id, "positionX": x, "positionY": y, "width": 160, "height": 120, **more}


def photo(id, x, y, **more):
    return {"id": id, "type": "photo", "picture": "coast", "positionX": x, "positionY": y, "width": 240, "height": 180, **more}


def scene(single, room):
    """Something of each kind."""
    create(single, room,
           photo("p1", 180, 150, picture="mountains", rotation=-3, width=320, height=240),
           {"id": "t1", "type": "text", "space": "normalized", "parentId": "p1", "positionX": 0.5, "positionY": 0.84,
            "content": "Day one, 6:40", "fontSize": 20, "width": 190, "height": 40},
           note("n1", 480, 90, content="Meet at the hut at nine", tint="sun", rotation=4, width=200, height=160),
           note("n2", 470, 290, content="Who brings the rope?", tint="sky", rotation=-2, width=200, height=160),
           {"id": "v1", "type": "video", "picture": "forest", "title": "The way up", "seconds": 8,
            "positionX": 790, "positionY": 130, "width": 352, "height": 220},
           {"id": "a1", "type": "audio", "title": "Morning loop", "tune": 0, "seconds": 6, "positionX": 770, "positionY": 310,
            "width": 320, "height": 88},
           photo("p2", 190, 420, picture="coast", rotation=5, width=280, height=210),
           note("n3", 480, 480, content="Ferry back on Sunday, 18:15", tint="mint", width=200, height=160),
           photo("p3", 790, 480, picture="city", rotation=-4, width=280, height=210))
