"""A page in a headless Chromium, as people see it: its words, its console, and what is wrong with it."""

import base64
import json
import pathlib

from pipeline import eventually

CHECKS = (pathlib.Path(__file__).parent / "page_checks.js").read_text()


class BrowsedPage:
    """A page in a browser, which has only this one at a time."""

    def __init__(self, browser, url, width=1440, height=900):
        self.browser = browser
        self.complaints = []
        self.target = browser.run("Target.createTarget", url="about:blank")["targetId"]
        # A page behind another one is hidden, and does nothing.
        browser.run("Target.activateTarget", targetId=self.target)
        self.session = browser.run("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        browser.listeners[self.session] = self._happened
        for domain in ("Runtime", "Log", "Page"):
            browser.run(f"{domain}.enable", self.session)
        self.resize(width, height)
        self.open(url)

    def _happened(self, method, parameters):
        # A refused token is part of the page's life; the browser says so, too.
        if method == "Log.entryAdded" and "401" in parameters["entry"].get("text", ""):
            return
        if method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
            self.complaints.append(json.dumps(parameters)[:500])

    def open(self, url):
        self.browser.run("Page.navigate", self.session, url=url)
        loaded = f"location.href.startsWith({json.dumps(url.split('#')[0])}) && document.readyState === 'complete'"
        eventually("the page is there", lambda: self.run(loaded), within=30)

    def run(self, expression):
        """The value of an expression, awaited."""
        result = self.browser.run(
            "Runtime.evaluate", self.session, expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def text(self, selector):
        """The texts of all elements that a selector finds and people see."""
        return self.run(
            f"[...document.querySelectorAll({json.dumps(selector)})].filter((each) => each.checkVisibility())"
            ".map((each) => each.innerText.replaceAll(/\\s+/g, ' '))")

    def resize(self, width, height):
        self.browser.run(
            "Emulation.setDeviceMetricsOverride", self.session, width=width, height=height, deviceScaleFactor=1,
            mobile=width < 600)

    def prefer(self, theme, motion="no-preference"):
        """What the person has set: `light` or `dark`, and how much may move."""
        features = [{"name": "prefers-color-scheme", "value": theme}, {"name": "prefers-reduced-motion", "value": motion}]
        self.browser.run("Emulation.setEmulatedMedia", self.session, features=features)

    def faults(self):
        """What a person could not see or use: a list of sentences."""
        return self.run(f"({CHECKS})()")

    def type(self, text):
        """Types into what has the focus."""
        self.browser.run("Input.insertText", self.session, text=text)

    def press(self, key):
        """Presses a key, such as Enter, that has its name as its code."""
        codes = {"Enter": (13, "\r"), "Tab": (9, ""), "Escape": (27, "")}
        number, text = codes[key]
        for kind in ("keyDown", "keyUp"):
            self.browser.run(
                "Input.dispatchKeyEvent", self.session, type=kind, key=key, code=key, windowsVirtualKeyCode=number,
                **({"text": text} if text and kind == "keyDown" else {}))

    def picture(self, path):
        """Saves a picture of what is seen."""
        data = self.browser.run("Page.captureScreenshot", self.session, format="png")["data"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))

    def close(self):
        self.browser.run("Target.closeTarget", targetId=self.target)
