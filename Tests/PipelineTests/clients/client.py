"""The one interface behind which every kind of client stands, and what all of them share."""

import contextlib
import threading
import time

from pipeline import Overdue, eventually


class Refused(Exception):
    """The server answered CONNECT with CONNECT_ERROR; `data` is what that carried: a message, and data if any."""

    def __init__(self, data):
        super().__init__(str(data))
        self.data = data


class Client:
    """One Socket.IO connection in the namespace `/`, and everything that it heard, in order.

    What it heard are pairs of a name and a list of arguments, binary ones as `bytes`. Besides the server's events these
    are `connect`, `disconnect` with a reason and `connect_error` with what the server refused it with;
    JavaScript also tells of `unreachable` with a message.
    """

    def __init__(self, transports):
        self.transports = transports
        # Asked for an acknowledgement by the server, it answers with what this makes of the arguments.
        self.answer = lambda arguments: arguments
        self.heard = []
        self.changed = threading.Condition()

    # What a kind of client has to provide

    def start(self, url, auth, reconnects):
        """Begins to connect; how it goes is heard."""
        raise NotImplementedError

    def start_again(self, auth):
        """Begins to connect once more, after the server ended it; with that auth from now on."""
        raise NotImplementedError

    def emit(self, event, *arguments):
        raise NotImplementedError

    def call(self, event, *arguments, within=10.0):
        """Emits, and returns the arguments of the acknowledgement."""
        raise NotImplementedError

    @property
    def transport(self):
        """What carries the connection at present: `polling` or `websocket`."""
        raise NotImplementedError

    def close(self):
        raise NotImplementedError

    # What follows from that

    def connect(self, url, auth=None, reconnects=False):
        """Connects and returns itself; raises `Refused`."""
        self.start(url, auth, reconnects)
        self._settle(1)
        return self

    def connect_again(self, auth):
        """Connects once more, with that auth from now on; raises `Refused`."""
        count = len(self.named("connect")) + len(self.named("connect_error"))
        self.start_again(auth)
        self._settle(count + 1)

    def _settle(self, count):
        def outcomes():
            heard = [entry for entry in self.all_heard() if entry[0] in ("connect", "connect_error")]
            return heard[count - 1 :]

        name, arguments = eventually(f"{self} is connected", outcomes, within=15)[0]
        if name == "connect_error":
            raise Refused(arguments[0])

    @property
    def settled_transport(self):
        """What carries the connection once there is no upgrade under way any more."""
        return self.transports[-1]

    def note(self, name, arguments):
        with self.changed:
            self.heard.append((name, list(arguments)))
            self.changed.notify_all()

    def all_heard(self):
        with self.changed:
            return list(self.heard)

    def named(self, name):
        """The arguments of each event of that name so far."""
        return [arguments for heard, arguments in self.all_heard() if heard == name]

    def expect(self, name, where=None, within=10.0):
        """The arguments of the first event of that name (that fits), whether it came already or is still to come."""
        end = time.monotonic() + within
        looked = 0
        with self.changed:
            while True:
                for heard, arguments in self.heard[looked:]:
                    looked += 1
                    if heard == name and (where is None or where(*arguments)):
                        return arguments
                left = end - time.monotonic()
                if left <= 0 or not self.changed.wait(left):
                    raise Overdue(f"{self}: no {name} within {within} s; heard last: {str(self.heard[-8:])[:1500]}")

    def expect_count(self, name, count, within=10.0):
        """The same for so many events of that name: the arguments of all of them."""
        eventually(f"{self} heard {count} times {name}", lambda: len(self.named(name)) >= count, within=within)
        return self.named(name)

    def wait_transport(self):
        """Waits until an upgrade is over."""
        eventually(f"{self} is on {self.settled_transport}", lambda: self.transport == self.settled_transport)

    def __str__(self):
        return f"{type(self).__name__} on {'+'.join(self.transports)}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(Exception):
            self.close()
