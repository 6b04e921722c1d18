"""The official JavaScript client, wherever it runs: one place holds many connections and is spoken to in JSON."""

import base64
import importlib.util
import itertools
import pathlib
import threading

from clients.client import Client
from pipeline import Overdue

DRIVER = pathlib.Path(__file__).with_name("driver.js")


def client_file():
    """The official client's browser build. It comes inside a Python package, which is installed for this file alone."""
    package = importlib.util.find_spec("nicegui")
    if package is None:
        raise RuntimeError("nicegui, which carries the official client, is missing; venv.sh installs it")
    return pathlib.Path(package.submodule_search_locations[0]) / "static" / "socket.io.min.js"


def to_json(value):
    if isinstance(value, (bytes, bytearray)):
        return {"$bytes": base64.b64encode(value).decode()}
    if isinstance(value, (list, tuple)):
        return [to_json(entry) for entry in value]
    if isinstance(value, dict):
        return {key: to_json(entry) for key, entry in value.items()}
    return value


def from_json(value):
    if isinstance(value, list):
        return [from_json(entry) for entry in value]
    if isinstance(value, dict):
        if "$bytes" in value:
            return base64.b64decode(value["$bytes"])
        return {key: from_json(entry) for key, entry in value.items()}
    return value


class Place:
    """Where the driver runs. A place only has to carry commands to it and hand its reports to `reported`."""

    def __init__(self):
        self.numbers = itertools.count(1)
        self.clients = {}
        self.answers = {}
        self.changed = threading.Condition()

    def command(self, command):
        """Hands one command to the driver."""
        raise NotImplementedError

    def complaints(self):
        """What it said on standard error, for the message of a test that fails."""
        raise NotImplementedError

    def close(self):
        raise NotImplementedError

    def ask(self, command, within):
        """Hands over a command that is answered with arguments, and returns these."""
        request = next(self.numbers)
        self.command({**command, "request": request})
        with self.changed:
            if not self.changed.wait_for(lambda: request in self.answers, within):
                raise Overdue(f"no answer within {within} s to {str(command)[:500]}; it said: {self.complaints()}")
            return self.answers.pop(request)

    def reported(self, report):
        """A report of the driver."""
        if "request" in report:
            with self.changed:
                self.answers[report["request"]] = from_json(report["args"])
                self.changed.notify_all()
        elif report["client"] in self.clients:
            self.clients[report["client"]].reported(report)


class JavaScriptClient(Client):
    """One connection of the official client."""

    def __init__(self, transports, place):
        super().__init__(transports)
        self.place = place
        self.number = next(place.numbers)
        place.clients[self.number] = self

    def reported(self, report):
        arguments = from_json(report["args"])
        self.note(report["event"], arguments)
        if "acknowledgement" in report:
            answer = to_json(self.answer(arguments))
            self._command("acknowledge", acknowledgement=report["acknowledgement"], args=answer)

    def _command(self, operation, **more):
        self.place.command({"client": self.number, "operation": operation, **more})

    def start(self, url, auth, reconnects):
        options = {
            "transports": self.transports, "reconnection": reconnects, "reconnectionDelay": 200,
            "reconnectionDelayMax": 500, "timeout": 10000, **({} if auth is None else {"auth": auth}),
        }
        self._command("connect", url=url, options=options)

    def start_again(self, auth):
        self._command("connectAgain", auth=auth)

    def emit(self, event, *arguments):
        self._command("emit", args=to_json([event, *arguments]))

    def call(self, event, *arguments, within=10.0):
        command = {"client": self.number, "operation": "call", "args": to_json([event, *arguments])}
        return self.place.ask(command, within)

    @property
    def transport(self):
        return self.place.ask({"client": self.number, "operation": "transport"}, 10)[0]

    def close(self):
        self._command("close")
        self.place.clients.pop(self.number, None)

    def __str__(self):
        return f"JavaScript in {type(self.place).__name__} on {'+'.join(self.transports)}"
