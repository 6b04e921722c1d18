"""A page of the gateway in a browser."""

import base64
import json
import math
import threading
import time

from pipeline import eventually


class Page:
    """The gateway's page in a window of its own, with everything that the browser complains of."""

    session = None

    def __init__(self, browser, address, width=1280, height=800):
        self.browser = browser
        self.complaints = []
        self.changed = threading.Condition()
        others = browser.on_event
        browser.on_event = lambda *event: (others(*event), self.happened(*event))
        # Pages in the background of a window would draw no frames.
        self.target = browser.run("Target.createTarget", url="about:blank", newWindow=True, width=width, height=height)["targetId"]
        self.session = browser.run("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.command(f"{domain}.enable")
        # Violations are events of the document, too.
        violation = "addEventListener('securitypolicyviolation', e => console.error('violation ' + e.violatedDirective))"
        self.command("Page.addScriptToEvaluateOnNewDocument", source=violation)
        self.size(width, height)
        self.open(address)

    def command(self, method, **parameters):
        """A command of the DevTools protocol, to this page."""
        return self.browser.run(method, self.session, **parameters)

    def open(self, address):
        self.command("Page.navigate", url=address)
        self.wait("it is loaded", "document.readyState === 'complete' && location.href !== 'about:blank'")

    def close(self):
        self.browser.run("Target.closeTarget", targetId=self.target)

    def size(self, width, height):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def happened(self, session, method, parameters):
        if session != self.session:
            return
        if method == "Log.entryAdded":
            self.complaints.append(parameters["entry"])
        elif method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            self.complaints.append(parameters)

    def ask(self, expression):
        """The value of an expression."""
        result = self.command("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, what, expression, within=20):
        return eventually(f"{what}; the page complains of {self.complaints}", lambda: self.ask(expression), within=within)

    def picture(self, path):
        """Writes what is seen as a PNG."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(self.command("Page.captureScreenshot", format="png")["data"]))

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

    def mouse(self, kind, x, y, buttons=0, modifiers=0, count=1, **more):
        button = "left" if buttons or kind == "mouseReleased" else "none"
        self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=buttons,
                     modifiers=modifiers, clickCount=count, **more)

    def click(self, x, y, modifiers=0):
        self.mouse("mousePressed", x, y, 1, modifiers)
        self.mouse("mouseReleased", x, y, 0, modifiers)

    def drag(self, start, end, modifiers=0, steps=8, lift=True):
        """Drags with the mouse from one point to another, and rests there: a hand that does not is throwing."""
        self.mouse("mouseMoved", *start)
        self.mouse("mousePressed", *start, 1, modifiers)
        for step in range(1, steps + 1):
            x, y = (a + (b - a) * step / steps for a, b in zip(start, end))
            self.mouse("mouseMoved", x, y, 1, modifiers)
        time.sleep(0.05)
        if lift:
            self.mouse("mouseReleased", *end, 0, modifiers)

    def flick(self, start, way, speed, rest=0):
        """Drags with the mouse, and lets go at a speed, px/s, after a rest of some seconds. The browser is told when."""
        now, steps, length = time.time(), 8, math.hypot(*way)
        self.mouse("mousePressed", *start, 1, timestamp=now)
        for step in range(1, steps + 1):
            x, y = (a + b * step / steps for a, b in zip(start, way))
            self.mouse("mouseMoved", x, y, 1, timestamp=now + length / speed * step / steps)
        self.mouse("mouseReleased", x, y, timestamp=now + length / speed + rest)

    def touch(self, kind, *points):
        """touchStart, touchMove or touchEnd with all fingers that are down."""
        fingers = [{"x": x, "y": y, "id": index} for index, (x, y) in enumerate(points)]
        self.command("Input.dispatchTouchEvent", type=kind, touchPoints=fingers)

    def key(self, key, modifiers=0, text=None):
        """Presses a key: `key` as in KeyboardEvent; modifiers 1 Alt, 2 Ctrl, 8 Shift."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
                 "ArrowDown": 40, "Delete": 46, "Backspace": 8}
        code = codes.get(key, ord(key[0].upper()))
        text = text if text is not None else key if len(key) == 1 and not modifiers & 2 else ""
        common = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        self.command("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
        self.command("Input.dispatchKeyEvent", type="keyUp", **common)

    def write(self, text):
        self.command("Input.insertText", text=text)
