"""Apps: python-socketio clients on one event loop in a thread of their own, with a plain blocking face for tests."""

import asyncio
import collections
import contextlib
import itertools
import threading
import time

import aiohttp
import socketio

from pipeline import Overdue

WEBSOCKET = ["websocket"]
POLLING = ["polling"]
UPGRADE = ["polling", "websocket"]

Event = collections.namedtuple("Event", "name data at")


class Loop:
    """An event loop that runs in its own thread."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def run(self, coroutine, timeout=30.0):
        future = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        try:
            return future.result(timeout)
        except TimeoutError:
            future.cancel()
            raise Overdue(f"no answer within {timeout} s") from None


LOOP = Loop()


class Refused(Exception):
    """The server refused the connection; `data` is what CONNECT_ERROR carried, or what the client says of `cause`, the
    error of its transport."""

    def __init__(self, data, cause=None):
        super().__init__(f"{data} ({cause!r})")
        self.data = data


def first_cause(error):
    """The error that others followed from."""
    while error.__context__ is not None:
        error = error.__context__
    return error


class App:
    """One connection of one user, and everything that it received, in order."""

    numbers = itertools.count(1)

    def __init__(self, url, user=None, *, transports=None, auth=None, headers=None, reconnects=False, name=None,
                 pause=0.2, tls=None):
        self.url = url
        self.user = user
        self.transports = transports or WEBSOCKET
        self.auth = dict(auth or {})
        if user is not None:
            self.auth.setdefault("userId", user)
        if name is not None:
            self.auth["name"] = name
        self.headers = headers or {}
        self.events = []
        self.joined = set()
        self.connects = 0
        self.connect_error = None
        self.changed = threading.Condition()
        self.on_event = None
        self.client = None
        self.reconnects = reconnects
        # Before the first try to come back, in seconds.
        self.pause = pause
        # An SSLContext: what it trusts.
        self.tls = tls
        self.http = None

    # Life

    def connect(self, timeout=15.0):
        LOOP.run(self._connect(), timeout)
        return self

    async def _connect(self):
        if self.tls:
            self.http = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=self.tls))
        self.client = socketio.AsyncClient(
            http_session=self.http, reconnection=self.reconnects, reconnection_delay=self.pause, reconnection_delay_max=1.0,
            randomization_factor=0.2,
        )
        self.client.on("connect", self._connected)
        self.client.on("disconnect", self._disconnected)
        self.client.on("connect_error", self._refused)
        self.client.on("*", self._received)
        try:
            await self.client.connect(
                self.url, auth=self.auth or None, headers=self.headers, transports=self.transports, wait_timeout=8
            )
        except socketio.exceptions.ConnectionError as error:
            with contextlib.suppress(Exception):
                await self.client.disconnect()
            raise Refused(self.connect_error, first_cause(error)) from None

    def close(self):
        if self.client is not None:
            with contextlib.suppress(Exception):
                LOOP.run(self.client.disconnect(), 10)
        if self.http is not None:
            LOOP.run(self.http.close(), 10)

    def vanish(self):
        """Ends without a word, as an app does whose phone went into a tunnel."""

        async def cut():
            eio = self.client.eio
            if eio.current_transport == "websocket":
                eio.ws._response.connection.transport.abort()
            else:
                await eio.http.close()

        with contextlib.suppress(Exception):
            LOOP.run(cut(), 5)

    @property
    def is_connected(self):
        return self.client is not None and self.client.connected

    def _note(self, event):
        with self.changed:
            self.events.append(event)
            self.changed.notify_all()

    async def _connected(self):
        self.connects += 1
        self._note(Event("connect", None, time.monotonic()))

    async def _disconnected(self, reason=None):
        self._note(Event("disconnect", reason, time.monotonic()))

    async def _refused(self, data=None):
        self.connect_error = data
        self._note(Event("connect_error", data, time.monotonic()))

    async def _received(self, name, *data):
        event = Event(name, data[0] if data else None, time.monotonic())
        self._note(event)
        if self.on_event:
            self.on_event(event)

    # Saying

    def call(self, event, payload, timeout=12.0):
        """Sends an event and returns what it is acknowledged with."""
        return LOOP.run(self.client.call(event, payload, timeout=timeout), timeout + 3)

    def ok(self, event, payload, timeout=12.0):
        """The same, and it must be fine. The app's own update is waited for too: the acknowledgement may overtake it,
        and only then does everybody who asks see the commit."""
        answer = self.call(event, payload, timeout)
        assert answer.get("ok") is True, (event, payload, answer)
        if payload.get("roomId") in self.joined and answer.get("seq") and not answer.get("duplicate"):
            if event.startswith("element"):
                self.wait_seq(answer["seq"], room=payload["roomId"])
        return answer

    def refused(self, event, payload, code, field=None):
        """The same, and it must be refused with this code (and field)."""
        answer = self.call(event, payload)
        assert answer["ok"] is False, (event, payload, answer)
        error = answer["error"]
        assert error["code"] == code, (event, payload, answer)
        assert isinstance(error["message"], str) and error["message"]
        if field is not None:
            assert error.get("field") == field, (event, payload, answer)
        return error

    def send(self, event, payload):
        """Sends an event that asks for no acknowledgement."""
        LOOP.run(self.client.emit(event, payload), 10)

    def start(self, event, payload):
        """Sends an event and returns a future of its acknowledgement; several may be under way."""
        return asyncio.run_coroutine_threadsafe(self.client.call(event, payload, timeout=30), LOOP.loop)

    def join(self, room, **more):
        answer = self.ok("room:join", {"roomId": room, **more})
        self.joined.add(room)
        return answer

    def leave(self, room):
        self.joined.discard(room)
        return self.ok("room:leave", {"roomId": room})

    # Hearing

    def named(self, name, where=None):
        """The data of the events of that name so far."""
        with self.changed:
            events = list(self.events)
        return [event.data for event in events if event.name == name and (where is None or where(event.data))]

    def wait(self, name, where=None, within=8.0):
        """The first event of that name (that fits), whether it came already or is still to come."""
        end = time.monotonic() + within
        looked = 0
        with self.changed:
            while True:
                while looked < len(self.events):
                    event = self.events[looked]
                    looked += 1
                    if event.name == name and (where is None or where(event.data)):
                        return event.data
                left = end - time.monotonic()
                if left <= 0 or not self.changed.wait(left):
                    heard = [f"{event.name} {event.data}"[:160] for event in self.events[-12:]]
                    raise Overdue(f"no {name} within {within} s; heard last: {heard}")

    def wait_seq(self, seq, within=8.0, room=None):
        """Waits for the update with that number, whatever it is."""

        def has_seq(event):
            return (
                event.name in UPDATES
                and event.data.get("seq") == seq
                and (room is None or event.data.get("roomId") == room)
            )

        end = time.monotonic() + within
        with self.changed:
            while True:
                for event in self.events:
                    if has_seq(event):
                        return event
                left = end - time.monotonic()
                if left <= 0 or not self.changed.wait(left):
                    raise Overdue(f"no update {seq} within {within} s; heard {[e.name for e in self.events[-12:]]}")

    def updates(self, room=None):
        """The numbered updates so far: (seq, event)."""
        with self.changed:
            return [
                (event.data["seq"], event)
                for event in self.events
                if event.name in UPDATES and (room is None or event.data.get("roomId") == room)
            ]

    def forget(self):
        """Forgets what came so far."""
        with self.changed:
            self.events.clear()


UPDATES = {
    "element:transformed",
    "element:created",
    "elements:created",
    "element:updated",
    "element:deleted",
    "elements:transformed",
    "elements:updated",
}


FENCES = itertools.count(1)


def fence(room, sender, *hearers):
    """Makes sure that every preview and update sent in a room so far has reached the hearers.

    Previews of an element of its own go the same way behind everything else. Of three in a row the last leaves a tick
    after the first at the earliest, and no preview of another element waits longer: what has not come by then never will.
    """
    element = f"fence-{next(FENCES)}"
    answer = sender.ok("element:create", {"roomId": room, "element": {"type": "fence", "id": element}})
    for hearer in hearers:
        hearer.wait_seq(answer["seq"])
    for step in range(3):
        sender.send("element:transforming", {"roomId": room, "elementId": element, "positionX": step})
        for hearer in hearers:
            hearer.wait(
                "element:transforming",
                lambda preview: preview["elementId"] == element and preview["positionX"] == step,
            )


def previews_at(app, element=None):
    """The previews that an app received: their events, with times."""
    with app.changed:
        return [
            event
            for event in app.events
            if event.name == "element:transforming" and (element is None or event.data["elementId"] == element)
        ]


async def _burst(app, payloads, hertz):
    started = time.monotonic()
    for index, payload in enumerate(payloads):
        delay = started + index / hertz - time.monotonic()
        if delay > 0:
            await asyncio.sleep(delay)
        await app.client.emit("element:transforming", payload)


def burst(*streams, hertz=120):
    """Sends streams of previews at the same time: pairs of an app and its payloads."""

    async def together():
        await asyncio.gather(*(_burst(app, payloads, hertz) for app, payloads in streams))

    LOOP.run(together(), 60)
