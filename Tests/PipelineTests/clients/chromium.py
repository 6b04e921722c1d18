"""A headless Chromium as a place for the official client."""

import contextlib
import http.server
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading

from clients.chromium_window import ChromiumWindow
from clients.javascript import DRIVER, Place, client_file
from pipeline import Overdue, eventually

FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-extensions",
    "--disable-sync", "--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--mute-audio",
    "--remote-debugging-pipe",
]


class PageServer:
    """Serves the page with the client in it. Its origin is another one than that of the servers under test."""

    FILES = {
        "/": ("text/html", lambda: b"<!doctype html><script src=client.js></script><script src=driver.js></script>"),
        "/client.js": ("text/javascript", lambda: client_file().read_bytes()),
        "/driver.js": ("text/javascript", DRIVER.read_bytes),
    }

    def __init__(self):
        files = self.FILES

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                kind, body = files.get(self.path, (None, None))
                if kind is None:
                    return self.send_error(404)
                content = body()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Browser:
    """A process of Chromium, spoken to in the DevTools protocol over a pair of pipes: messages end with a zero."""

    name = "chromium"

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="touchsync-chromium-")
        command_out, self.command_in = os.pipe()
        self.report_out, report_in = os.pipe()
        # It expects them as descriptors 3 and 4; a shell gives them these numbers.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{command_out} 4>&{report_in}', "-", "chromium", *FLAGS,
             f"--user-data-dir={self.folder}", "about:blank"],
            pass_fds=(command_out, report_in), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            start_new_session=True, env={**os.environ, "HOME": self.folder},
        )
        os.close(command_out)
        os.close(report_in)
        self.numbers = itertools.count(1)
        self.awaited = set()
        self.results = {}
        self.changed = threading.Condition()
        self.writing = threading.Lock()
        # By session, what hears of its events: a method of the protocol, and its parameters.
        self.listeners = {}
        self.said = ""
        threading.Thread(target=self._listen, daemon=True).start()
        threading.Thread(target=self._read, daemon=True).start()

    def _listen(self):
        while chunk := self.process.stderr.read1(65536):
            self.said = (self.said + chunk.decode(errors="replace"))[-4000:]

    def _read(self):
        rest = b""
        while chunk := os.read(self.report_out, 1 << 20):
            *messages, rest = (rest + chunk).split(b"\0")
            for message in messages:
                self._received(json.loads(message))

    def _received(self, message):
        if "id" not in message:
            if listener := self.listeners.get(message.get("sessionId")):
                listener(message["method"], message["params"])
            return
        with self.changed:
            if message["id"] in self.awaited:
                self.results[message["id"]] = message
                self.changed.notify_all()
        if "exceptionDetails" in message.get("result", {}):
            self.said += f"\na script failed: {message['result']['exceptionDetails']}"[:1000]

    def send(self, method, session=None, awaited=False, **parameters):
        """Sends a command and returns its number."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        if awaited:
            self.awaited.add(number)
        data = json.dumps(message).encode() + b"\0"
        with self.writing:
            while data:
                data = data[os.write(self.command_in, data) :]
        return number

    def run(self, method, session=None, within=30.0, **parameters):
        """Sends a command and returns its result."""
        number = self.send(method, session, awaited=True, **parameters)
        with self.changed:
            if not self.changed.wait_for(lambda: number in self.results, within):
                raise Overdue(f"Chromium does not answer {method}; it said: {self.said}")
            self.awaited.discard(number)
            message = self.results.pop(number)
        assert "error" not in message, (method, message)
        return message["result"]

    def window(self, width, height, complaints):
        """A window that people work in; what the browser complains of there is appended to a list."""
        return ChromiumWindow(self, width, height, complaints)

    def download_to(self, folder):
        self.run("Browser.setDownloadBehavior", behavior="allow", downloadPath=folder)

    def close(self):
        with contextlib.suppress(Exception):
            self.run("Browser.close", within=5)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        # Its helpers are in the group that it leads.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.command_in)
        shutil.rmtree(self.folder, ignore_errors=True)


class Chromium(Place):
    """One page in a headless Chromium; `host` decides its origin."""

    def __init__(self, host="127.0.0.1"):
        super().__init__()
        self.pages = PageServer()
        self.origin = f"http://{host}:{self.pages.port}"
        self.session = None
        self.browser = Browser()
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self):
        target = self.browser.run("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.browser.run("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.browser.listeners[self.session] = self._happened
        self.browser.run("Runtime.enable", self.session)
        self.browser.run("Runtime.addBinding", self.session, name="report")
        self.browser.run("Page.navigate", self.session, url=self.origin + "/")
        loaded = f"location.origin === {json.dumps(self.origin)} && typeof drive === 'function'"
        eventually(f"the page of {self.origin} is loaded", lambda: self._evaluate(loaded), within=30)

    def _evaluate(self, expression):
        result = self.browser.run("Runtime.evaluate", self.session, expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def complaints(self):
        return self.browser.said

    def _happened(self, method, parameters):
        if method == "Runtime.bindingCalled":
            self.reported(json.loads(parameters["payload"]))

    def command(self, command):
        # Not waited for: a report may have to be answered by the very thread that reads the results.
        self.browser.send("Runtime.evaluate", self.session, expression=f"drive({json.dumps(command)})")

    def close(self):
        self.browser.close()
        self.pages.close()
