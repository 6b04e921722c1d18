"""A window of Chromium for the hands and eyes of a test."""

import base64
import time

# What a key types, if it is not its name.
TYPED = {"Enter": "\r"}
CODES = {"Backspace": 8, "Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36,
         "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Delete": 46, "F10": 121}
# What the browser does with keys that a page leaves to it: the protocol sends keys alone.
EDITS = {"a": "selectAll", "c": "copy", "v": "paste", "x": "cut"}
# Those that are down, as in MouseEvent.
BUTTONS = {0: "none", 1: "left", 2: "right", 4: "middle"}


class ChromiumWindow:
    """A window, spoken to in the DevTools protocol. `page.py` says what its methods mean."""

    def __init__(self, browser, width, height, complaints):
        self.browser, self.complaints = browser, complaints
        # Pages in the background of a window would draw no frames.
        self.target = browser.run("Target.createTarget", url="about:blank", newWindow=True, width=width, height=height)["targetId"]
        self.session = browser.run("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        browser.listeners[self.session] = self._happened
        # A person has said yes.
        browser.run("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        for domain in ("Runtime", "Log", "Page"):
            self.command(f"{domain}.enable")
        self.size(width, height)

    def command(self, method, **parameters):
        return self.browser.run(method, self.session, **parameters)

    def _happened(self, method, parameters):
        if method in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            self.complaints.append(parameters)

    def run_first(self, script):
        self.command("Page.addScriptToEvaluateOnNewDocument", source=script)

    def open(self, address):
        self.command("Page.navigate", url=address)

    def reload(self):
        self.command("Page.reload")

    def close(self):
        self.browser.run("Target.closeTarget", targetId=self.target)

    def size(self, width, height):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, theme, motion):
        features = {"prefers-color-scheme": theme, "prefers-reduced-motion": motion}
        self.command("Emulation.setEmulatedMedia", features=[
            {"name": name, "value": value or ""} for name, value in features.items()])

    def touch_only(self):
        self.command("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=5)

    def ask(self, expression):
        try:
            result = self.command("Runtime.evaluate", expression=expression, returnByValue=True)
        except AssertionError as error:
            if "Inspected target navigated" not in str(error):
                raise
            # The page went meanwhile: the next one answers.
            return self.ask(expression)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def picture(self):
        return base64.b64decode(self.command("Page.captureScreenshot", format="png")["data"])

    def mouse(self, events, modifiers, count):
        moment, takes_time = time.time(), any(seconds for *_, seconds in events)
        for kind, (x, y), buttons, seconds in slowly(events):
            # The browser is told when it was: nobody has to wait, and a busy machine slows no hand down.
            moment = moment + seconds if takes_time else time.time()
            self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=BUTTONS[buttons], clickCount=count,
                         buttons=0 if kind == "mouseReleased" else buttons, modifiers=modifiers, timestamp=moment)

    def wheel(self, at, way, modifiers):
        (x, y), (right, down) = at, way
        self.command("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=right, deltaY=down, modifiers=modifiers)

    def touch(self, kind, points):
        fingers = [{"x": x, "y": y, "id": index} for index, (x, y) in enumerate(points)]
        self.command("Input.dispatchTouchEvent", type=kind, touchPoints=fingers)

    def key(self, key, modifiers):
        text = "" if modifiers & ~8 else TYPED.get(key, key if len(key) == 1 else "")
        common = {"key": key, "windowsVirtualKeyCode": CODES.get(key, ord(key[0].upper())), "modifiers": modifiers}
        commands = [EDITS[key]] if modifiers == 2 and key in EDITS else []
        self.command("Input.dispatchKeyEvent", type="keyDown", commands=commands, **common, **({"text": text} if text else {}))
        self.command("Input.dispatchKeyEvent", type="keyUp", **common)

    def drop(self, at, text):
        (x, y), data = at, {"items": [{"mimeType": "text/plain", "data": text}], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.command("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    def compose(self, text):
        self.command("Input.imeSetComposition", text=text, selectionStart=len(text), selectionEnd=len(text))
        self.command("Input.dispatchKeyEvent", type="rawKeyDown", key="Process", windowsVirtualKeyCode=229)

    def write(self, text):
        self.command("Input.insertText", text=text)


def slowly(events, steps=8):
    """Divides moves that take time into steps."""
    at = None
    for kind, point, buttons, seconds in events:
        if kind == "mouseMoved" and seconds:
            for step in range(1, steps + 1):
                yield kind, tuple(a + (b - a) * step / steps for a, b in zip(at, point)), buttons, seconds / steps
        else:
            yield kind, point, buttons, seconds
        at = point
