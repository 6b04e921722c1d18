"""A headless Firefox, and its windows for the hands and eyes of a test, spoken to in WebDriver BiDi."""

import base64
import contextlib
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading

import websocket

from pipeline import Overdue

PREFERENCES = {
    # What Alt does is the page's: a menu bar would take the focus.
    "ui.key.menuAccessKeyFocuses": False,
    # A document of the gateway without an icon may not load any.
    "browser.chrome.site_icons": False,
    # A person has said yes.
    "dom.events.testing.asyncClipboard": True,
}
# The keys that type nothing have letters of their own in WebDriver.
KEYS = {"Backspace": "\ue003", "Tab": "\ue004", "Enter": "\ue006", "Escape": "\ue00c", "PageUp": "\ue00e", "PageDown": "\ue00f",
        "End": "\ue010", "Home": "\ue011", "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014",
        "ArrowDown": "\ue015", "Delete": "\ue017", "F10": "\ue03a"}
MODIFIERS = {8: "\ue008", 2: "\ue009", 1: "\ue00a"}
# By those that are down in MouseEvent.
BUTTONS = {1: 0, 2: 2, 4: 1}
EVENTS = ["log.entryAdded", "browsingContext.userPromptOpened"]


class Firefox:
    """A process of Firefox."""

    name = "firefox"

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="touchsync-firefox-")
        (pathlib.Path(self.folder) / "user.js").write_text("".join(
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()))
        self.process = subprocess.Popen(
            # It ends with the tests, however they end.
            ["setpriv", "--pdeathsig", "KILL", "firefox-esr", "--headless", "--no-remote", "--remote-debugging-port", "0",
             "--remote-allow-system-access", "--profile", self.folder],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env={**os.environ, "HOME": self.folder},
        )
        self.said = ""
        self.numbers = itertools.count(1)
        self.results = {}
        self.changed = threading.Condition()
        # By context, what hears of its events: a method of the protocol, and its parameters.
        self.listeners = {}
        # The context of the window that was used last.
        self.front = None
        address = self._address()
        threading.Thread(target=self._listen, daemon=True).start()
        self.socket = websocket.create_connection(f"{address}/session", suppress_origin=True, timeout=60)
        self.socket.settimeout(None)
        threading.Thread(target=self._read, daemon=True).start()
        self.run("session.new", capabilities={})
        self.run("session.subscribe", events=EVENTS)

    def _address(self):
        for line in self.process.stderr:
            self.said += line
            if "listening on" in line:
                return line.split()[-1]
        raise AssertionError(f"Firefox ended: {self.said}")

    def _listen(self):
        for line in self.process.stderr:
            self.said = (self.said + line)[-4000:]

    def _read(self):
        with contextlib.suppress(websocket.WebSocketException, OSError):
            while text := self.socket.recv():
                message = json.loads(text)
                if message["type"] == "event":
                    source = message["params"].get("source", message["params"])
                    if listener := self.listeners.get(source.get("context")):
                        listener(message["method"], message["params"])
                    continue
                with self.changed:
                    self.results[message["id"]] = message
                    self.changed.notify_all()

    def run(self, method, within=30.0, **parameters):
        """Sends a command and returns its result."""
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        with self.changed:
            if not self.changed.wait_for(lambda: number in self.results, within):
                raise Overdue(f"Firefox does not answer {method}; it said: {self.said}")
            message = self.results.pop(number)
        assert message["type"] == "success", (method, message)
        return message["result"]

    def window(self, width, height, complaints):
        """A window that people work in; what the browser complains of there is appended to a list."""
        return FirefoxWindow(self, width, height, complaints)

    def download_to(self, folder):
        self.run("browser.setDownloadBehavior", downloadBehavior={"type": "allowed", "destinationFolder": folder})

    def close(self):
        # Its helpers are in the group that it leads.
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.socket.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class FirefoxWindow:
    """A window. `page.py` says what its methods mean."""

    def __init__(self, browser, width, height, complaints):
        self.browser, self.complaints = browser, complaints
        self.held, self.fingers = 0, 0
        self.context = browser.front = browser.run("browsingContext.create", type="window")["context"]
        browser.listeners[self.context] = self._happened
        self.size(width, height)

    def command(self, method, **parameters):
        return self.browser.run(method, context=self.context, **parameters)

    def _happened(self, method, parameters):
        self.complaints.append(parameters)

    def run_first(self, script):
        self.browser.run("script.addPreloadScript", functionDeclaration=f"() => {{ {script} }}", contexts=[self.context])

    def open(self, address):
        self.command("browsingContext.navigate", url=address, wait="complete")

    def reload(self):
        self.command("browsingContext.reload", wait="complete")

    def close(self):
        self.command("browsingContext.close")

    def size(self, width, height):
        self.command("browsingContext.setViewport", viewport={"width": width, "height": height}, devicePixelRatio=1)

    def prefer(self, theme, motion):
        """The protocol has no words for it: the window around the page knows how to pretend."""
        def windows(**scope):
            contexts = self.browser.run("browsingContext.getTree", maxDepth=0, **scope)["contexts"]
            return {context["context"]: context["clientWindow"] for context in contexts}

        mine = windows()[self.context]
        around = next(context for context, window in windows(**{"moz:scope": "chrome"}).items() if window == mine)
        overrides = {"prefersColorSchemeOverride": theme, "prefersReducedMotionOverride": motion}
        script = "".join(f"gBrowser.selectedBrowser.browsingContext.{name} = {json.dumps(value or 'none')};"
                         for name, value in overrides.items())
        self._evaluate(script, around)

    def ask(self, expression):
        return value_of(self._evaluate(expression, self.context))

    def _evaluate(self, expression, context):
        result = self.browser.run("script.evaluate", expression=expression, target={"context": context}, awaitPromise=False)
        assert result["type"] == "success", result
        return result["result"]

    def picture(self):
        return base64.b64decode(self.command("browsingContext.captureScreenshot")["data"])

    def _perform(self, **sources):
        # Only the window in front has the focus.
        if self.browser.front != self.context:
            self.command("browsingContext.activate")
            self.browser.front = self.context
        self.command("input.performActions", actions=[
            {"id": id, **source} for id, source in sources.items()])

    def _hold(self, modifiers):
        """Presses and lifts modifiers until these are held."""
        actions = [{"type": "keyDown" if modifiers & bit else "keyUp", "value": key}
                   for bit, key in MODIFIERS.items() if (modifiers ^ self.held) & bit]
        self.held = modifiers
        if actions:
            self._perform(keys={"type": "key", "actions": actions})

    def mouse(self, events, modifiers, count):
        self._hold(modifiers)
        actions = []
        for kind, (x, y), buttons, seconds in events:
            duration = round(seconds * 1000)
            if kind != "mouseMoved":
                actions += [{"type": "pause", "duration": duration}] if duration else []
                duration = 0
            actions.append({"type": "pointerMove", "x": x, "y": y, "duration": duration})
            if kind != "mouseMoved":
                how = "pointerDown" if kind == "mousePressed" else "pointerUp"
                actions.append({"type": how, "button": BUTTONS[buttons]})
        self._perform(mouse={"type": "pointer", "parameters": {"pointerType": "mouse"}, "actions": actions})

    def wheel(self, at, way, modifiers):
        self._hold(modifiers)
        (x, y), (right, down) = ([round(value) for value in pair] for pair in (at, way))
        self._perform(wheel={"type": "wheel", "actions": [{"type": "scroll", "x": x, "y": y, "deltaX": right, "deltaY": down}]})
        self._hold(0)

    def touch(self, kind, points):
        sources = {}
        for index in range(max(len(points), self.fingers)):
            actions = []
            if index < len(points):
                x, y = points[index]
                actions.append({"type": "pointerMove", "x": x, "y": y, "duration": 0})
                if index >= self.fingers:
                    actions.append({"type": "pointerDown", "button": 0})
            else:
                actions.append({"type": "pointerUp", "button": 0})
            sources[f"finger{index}"] = {"type": "pointer", "parameters": {"pointerType": "touch"}, "actions": actions}
        self.fingers = len(points)
        self._perform(**sources)

    def key(self, key, modifiers):
        self._hold(modifiers)
        self.write([KEYS.get(key, key)])
        self._hold(0)

    def drop(self, at, text):
        """The protocol has no words for it: the page hears of it as from the browser."""
        x, y = at
        self.ask(f"""(() => {{
            const dataTransfer = new DataTransfer(), where = {{ clientX: {x}, clientY: {y}, bubbles: true, cancelable: true }};
            dataTransfer.setData('text/plain', {json.dumps(text)});
            document.elementFromPoint({x}, {y}).dispatchEvent(new DragEvent('drop', {{ dataTransfer, ...where }}));
        }})()""")

    def write(self, text):
        actions = [{"type": kind, "value": letter} for letter in text for kind in ("keyDown", "keyUp")]
        self._perform(keys={"type": "key", "actions": actions})


def value_of(remote):
    """A value of JavaScript, as JSON has it."""
    kind, value = remote["type"], remote.get("value")
    if kind == "array":
        return [value_of(entry) for entry in value]
    if kind == "object":
        return {key: value_of(entry) for key, entry in value}
    if kind == "number" and isinstance(value, str):
        return float(value.replace("Infinity", "inf"))
    return value if kind in ("string", "number", "boolean") else None
