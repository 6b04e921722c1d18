"""A client of our own with the habits of socket.io-client-swift, which cannot be built here."""

import asyncio
import contextlib
import itertools
import json
import re

from app import LOOP
from clients.client import Client
from clients.swift_engine import SwiftEngine

PACKET = re.compile(r"(?P<type>[0-6])(?:(?P<attachments>\d+)-)?(?:/,?)?(?P<id>\d+)?(?P<json>.*)", re.S)
CONNECT, DISCONNECT, EVENT, ACK, CONNECT_ERROR, BINARY_EVENT, BINARY_ACK = "0123456"


def take_apart(value, attachments):
    """The JSON of a value; its bytes are moved to the attachments."""
    if isinstance(value, (bytes, bytearray)):
        attachments.append(bytes(value))
        return {"_placeholder": True, "num": len(attachments) - 1}
    if isinstance(value, (list, tuple)):
        return [take_apart(entry, attachments) for entry in value]
    if isinstance(value, dict):
        return {key: take_apart(entry, attachments) for key, entry in value.items()}
    return value


def put_together(value, attachments):
    """The reverse."""
    if isinstance(value, list):
        return [put_together(entry, attachments) for entry in value]
    if isinstance(value, dict):
        if value.get("_placeholder"):
            return attachments[value["num"]]
        return {key: put_together(entry, attachments) for key, entry in value.items()}
    return value


class SwiftClient(Client):
    """Manager and socket in one: namespace `/`, spelt out; one payload for ever; ack numbers that never start anew."""

    # Seconds between two attempts to connect again; the original waits 10 unless it is told another number.
    reconnect_wait = 0.5

    def __init__(self, transports):
        super().__init__(transports)
        self.ack_numbers = itertools.count(0)
        self.answers = {}
        self.is_connected = False
        # Whether it connects again by itself when the engine closes; a server's DISCONNECT ends that for the socket.
        self.wants_in = False
        # A binary packet that waits for its attachments.
        self.incomplete = None

    # Life

    def start(self, url, auth, reconnects):
        self.reconnects, self.is_over = reconnects, False
        self.engine = SwiftEngine(
            url, self, websockets_only=self.transports == ["websocket"], polling_only=self.transports == ["polling"])
        self.start_again(auth)

    def start_again(self, auth):
        async def start():
            self.payload, self.wants_in = auth, True
            if self.engine.connected:
                self.opened()
            else:
                await self.engine.connect()

        LOOP.run(start())

    def opened(self):
        """The engine is open: the socket that was connected, or is to be, sends its one payload (again)."""
        if self.wants_in:
            self.engine.write("40/," + ("" if self.payload is None else json.dumps(self.payload)))

    def closed(self, reason):
        """The engine is closed."""
        if self.is_connected:
            self.is_connected = False
            self.note("disconnect", [reason])
        self.incomplete = None
        if self.reconnects and not self.is_over:
            self._reconnection = asyncio.get_running_loop().create_task(self._reconnect())

    async def _reconnect(self):
        """The first attempt comes at once, the others at growing distances until an engine is open."""
        wait = self.reconnect_wait
        self.reconnects = False
        while not self.engine.connected and not self.is_over:
            await self.engine.connect()
            await asyncio.sleep(wait)
            wait = min(wait * 1.5, 3 * self.reconnect_wait)
        self.reconnects = True

    def close(self):
        async def close():
            self.is_over = True
            if self.is_connected:
                self.engine.write("41/,")
            await self.engine.disconnect("closed")

        LOOP.run(close())

    @property
    def transport(self):
        return "polling" if self.engine.polling else "websocket"

    # Sending

    def _send(self, kind, number, arguments):
        attachments = []
        body = json.dumps(take_apart(arguments, attachments), ensure_ascii=False)
        if attachments:
            kind = {EVENT: BINARY_EVENT, ACK: BINARY_ACK}[kind] + f"{len(attachments)}-"
        self.engine.write(f"4{kind}{'' if number is None else number}{body}", attachments)

    def emit(self, event, *arguments):
        async def emit():
            # There is no buffer: what is emitted while not connected is lost.
            assert self.is_connected, "tried emitting when not connected"
            self._send(EVENT, None, [event, *arguments])

        LOOP.run(emit())

    def call(self, event, *arguments, within=10.0):
        async def call():
            assert self.is_connected, "tried emitting when not connected"
            number = next(self.ack_numbers)
            answered = self.answers[number] = asyncio.get_running_loop().create_future()
            self._send(EVENT, number, [event, *arguments])
            return await asyncio.wait_for(answered, within)

        return LOOP.run(call(), within + 5)

    # Receiving

    def message(self, text):
        """A Socket.IO packet came."""
        packet = PACKET.fullmatch(text)
        if packet is None:
            # The original logs it and goes on.
            return
        if packet["attachments"]:
            self.incomplete = (packet, [])
        else:
            self._handle(packet, [])

    def binary(self, data):
        """An attachment came."""
        assert self.incomplete is not None, "an attachment without its packet"
        packet, attachments = self.incomplete
        attachments.append(data)
        if len(attachments) == int(packet["attachments"]):
            self.incomplete = None
            self._handle(packet, attachments)

    def _handle(self, packet, attachments):
        kind, number = packet["type"], packet["id"]
        data = put_together(json.loads(packet["json"]), attachments) if packet["json"] else None
        if kind == CONNECT:
            self.is_connected = True
            self.note("connect", [])
        elif kind == DISCONNECT:
            self.is_connected = self.wants_in = False
            self.note("disconnect", ["Got Disconnect"])
        elif kind == CONNECT_ERROR:
            # It goes on waiting for a better answer; the engine stays open.
            self.note("connect_error", [data])
        elif kind in (EVENT, BINARY_EVENT):
            name, *arguments = data
            self.note(name, arguments)
            if number is not None:
                self._send(ACK, number, self.answer(arguments))
        else:
            # An acknowledgement that nobody waits for is let go.
            with contextlib.suppress(KeyError):
                self.answers.pop(int(number)).set_result(data)
