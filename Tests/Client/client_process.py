"""Clients that are spoken to in JSON, and processes with one in them."""

import contextlib
import itertools
import json
import os
import pathlib
import signal
import subprocess
import threading

from pipeline import Overdue, eventually

# What runs each client: the one of web pages in Node, the one in Swift in its own program.
DRIVERS = {
    "web": ["node", str(pathlib.Path(__file__).with_name("driver.mjs"))],
    "swift": [os.environ.get("TOUCHSYNC_CLIENT_DRIVER", "client-driver")],
}


class Refused(Exception):
    """An edit was refused; `error` says why."""

    def __init__(self, error):
        super().__init__(str(error))
        self.error = error


def wait_stopped(process):
    """Waits until a process that was stopped runs no instruction any more."""
    os.waitpid(process.pid, os.WUNTRACED)


class DrivenClient:
    """One client, wherever it runs; commands.mjs describes what it is told and what it reports."""

    def __init__(self):
        self.numbers = itertools.count(1)
        self.answers = {}
        self.events = []
        self.changed = threading.Condition()

    def _received(self, report):
        with self.changed:
            if "call" in report:
                self.answers[report["call"]] = report
            else:
                self.events.append((report["event"], report.get("value")))
            self.changed.notify_all()

    def start(self, method, *arguments):
        """Calls a method of the driver; returns what waits for its result."""
        call = next(self.numbers)
        self._send({"call": call, "method": method, "arguments": arguments})

        def result(within=20.0):
            with self.changed:
                if not self.changed.wait_for(lambda: call in self.answers, within):
                    raise Overdue(f"{method} {arguments} has no result within {within} s")
                report = self.answers.pop(call)
            if "error" in report:
                raise Refused(report["error"])
            return report["result"]

        return result

    def call(self, method, *arguments):
        return self.start(method, *arguments)()

    def edit(self, room, method, *arguments):
        """An edit's result."""
        return self.call("edit", room, method, *arguments)

    def enter(self, room):
        """Connects and joins a room."""
        self.call("join", room)
        self.call("connect")
        self.call("joined", room)
        return self

    def look(self, room):
        return self.call("look", room)

    def positions(self, room):
        return {element["id"]: element["positionX"] for element in self.look(room)["elements"]}

    def wait_state(self, *states, within=20.0):
        self.wait("state", lambda value: value in states, within)

    def wait(self, event, condition=lambda value: True, within=20.0, after=0):
        """Waits for an event behind the first `after` events; returns its value."""

        def found():
            return [value for name, value in self.events[after:] if name == event and condition(value)]

        with self.changed:
            if not self.changed.wait_for(found, within):
                raise Overdue(f"no {event} within {within} s; there were {self.events[-20:]}")
            return found()[0]

    def settled(self, room, within=25.0):
        """Waits until everything has its result."""
        return eventually("everything is settled", lambda: self._settled(room), within=within)

    def _settled(self, room):
        now = self.look(room)
        return now if now["state"] == "live" and now["pending"] == 0 else None


class ClientProcess(DrivenClient):
    """One client of a kind, `web` or `swift`, in a process of its own."""

    def __init__(self, kind, url, **options):
        super().__init__()
        self.store = options.get("store")
        # Where Debian's packages of libraries lie; other builds of Node do not look there.
        environment = {**os.environ, "NODE_PATH": "/usr/share/nodejs"}
        self.process = subprocess.Popen(
            [*DRIVERS[kind], json.dumps({"url": url, **options})], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self._received(json.loads(line))

    def _send(self, command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()

    def pids(self):
        """The processes in which it runs."""
        return [self.process.pid]

    @contextlib.contextmanager
    def frozen(self):
        """Its process does nothing."""
        self.process.send_signal(signal.SIGSTOP)
        wait_stopped(self.process)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def kept(self):
        """What its store has, as texts: a file, or files in a folder."""
        store = pathlib.Path(self.store)
        files = [store] if store.is_file() else store.rglob("*.json")
        texts = []
        for file in files:
            # One that is forgotten between the two looks is not kept.
            with contextlib.suppress(FileNotFoundError):
                texts.append(file.read_text())
        return texts

    def close(self):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
