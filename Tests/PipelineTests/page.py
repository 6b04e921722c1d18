"""A page of the gateway in a browser."""

import json
import math
import time

from pipeline import eventually


class Page:
    """The gateway's page in a window of its own, with everything that the browser complains of. It has the same words for
    each browser; `clients` has a window of each, which knows its protocol."""

    def __init__(self, browser, address, width=1280, height=800):
        self.browser, self.complaints = browser, []
        self.window = browser.window(width, height, self.complaints)
        # Violations are events of the document, too.
        self.window.run_first("addEventListener('securitypolicyviolation', e => console.error('violation ' + e.violatedDirective))")
        self.open(address)

    def open(self, address):
        self.window.open(address)
        self.wait("it is loaded", "document.readyState === 'complete' && location.href !== 'about:blank'")

    def reload(self):
        self.window.reload()

    def close(self):
        self.window.close()

    def size(self, width, height):
        self.window.size(width, height)

    def prefer(self, theme=None, motion=None):
        """What the person's system is set to: `light` or `dark`, and `reduce` or `no-preference`."""
        self.window.prefer(theme, motion)

    def touch_only(self):
        """From the next document on there are fingers, and no mouse. Chromium alone can pretend it."""
        self.window.touch_only()

    def ask(self, expression):
        """The value of an expression."""
        return self.window.ask(expression)

    def wait(self, what, expression, within=20):
        return eventually(f"{what}; the page complains of {self.complaints}", lambda: self.ask(expression), within=within)

    def picture(self, path):
        """Writes what is seen as a PNG, beside what other browsers have drawn."""
        path = path.with_suffix(f".{self.browser.name}.png")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.seen_now())

    def seen_now(self):
        """What is seen, as a PNG."""
        return self.window.picture()

    def download_to(self, folder):
        """Files that a page offers are put there without a question."""
        self.browser.download_to(str(folder))

    # What a person does

    def press(self, selector):
        """Clicks a control as a mouse would: in its middle, where nothing else may lie on it."""
        where = self.ask(f"""(() => {{
            const control = document.querySelector({json.dumps(selector)}), box = control.getBoundingClientRect();
            const at = [box.x + box.width / 2, box.y + box.height / 2], top = document.elementFromPoint(...at);
            return control.contains(top) ? at : `${{top?.outerHTML.slice(0, 200)}} lies on it`;
        }})()""")
        assert isinstance(where, list), (selector, where)
        self.click(*where)

    def mouse(self, kind, x, y, buttons=0, modifiers=0, count=1):
        """mouseMoved; mousePressed or mouseReleased of the button `buttons`, 1 if it is left out: 2 is the right one, 4 that
        in the middle."""
        if kind != "mouseMoved":
            buttons = buttons or 1
        self.window.mouse([(kind, (x, y), buttons, 0)], modifiers, count)

    def wheel(self, x, y, right=0, down=0, modifiers=0):
        """Turns the wheel, in pixels."""
        self.window.wheel((x, y), (right, down), modifiers)

    def click(self, x, y, modifiers=0, count=1):
        """Clicks; the second click of a double one has the count 2."""
        self.mouse("mousePressed", x, y, 1, modifiers, count)
        self.mouse("mouseReleased", x, y, 1, modifiers, count)

    def double_click(self, x, y):
        self.click(x, y)
        self.click(x, y, count=2)

    def drag(self, start, end, modifiers=0, steps=8, lift=True):
        """Drags with the mouse from one point to another, and rests there: a hand that does not is throwing."""
        self.mouse("mouseMoved", *start)
        way = [tuple(a + (b - a) * step / steps for a, b in zip(start, end)) for step in range(1, steps + 1)]
        self.window.mouse([("mousePressed", start, 1, 0), *[("mouseMoved", point, 1, 0) for point in way]], modifiers, 1)
        time.sleep(0.1)
        if lift:
            self.mouse("mouseReleased", *end, 1, modifiers)

    def flick(self, start, way, speed, rest=0):
        """Drags with the mouse, and lets go at a speed, px/s, after a rest of some seconds."""
        end = [a + b for a, b in zip(start, way)]
        self.window.mouse([("mousePressed", start, 1, 0), ("mouseMoved", end, 1, math.hypot(*way) / speed),
                           ("mouseReleased", end, 1, rest)], 0, 1)

    def touch(self, kind, *points):
        """touchStart, touchMove or touchEnd with all fingers that are down."""
        self.window.touch(kind, points)

    def key(self, key, modifiers=0):
        """Presses a key: `key` as in KeyboardEvent; modifiers 1 Alt, 2 Ctrl, 8 Shift."""
        self.window.key(key, modifiers)

    def drop(self, x, y, text):
        """Drops a text from another program."""
        self.window.drop((x, y), text)

    def compose(self, text):
        """Begins to write with an input method."""
        self.window.compose(text)

    def write(self, text):
        self.window.write(text)
