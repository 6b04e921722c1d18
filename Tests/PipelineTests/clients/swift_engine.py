"""The engine of socket.io-client-swift, imitated: the same flags, and the same decisions made from them."""

import asyncio
import base64
import contextlib

import aiohttp

from clients.wire import Closed, Failed, Wire


class SwiftEngine:
    """One engine; `owner` is told `opened()`, `message(text)`, `binary(data)` and `closed(reason)`.

    All of it runs on one event loop, as the original runs on one queue. Its habits:

    - A WebSocket is opened at once when the open packet offers it, while a long poll is on and CONNECT is POSTed.
    - From the WebSocket's opening on (`probing`) every write waits, pongs too.
    - After `3probe` it queues a noop for a POST that will not be made, and changes over when the long poll returns.
    - Then it sends `5`, the writes that waited, and what is left for POST, the noop among it.
    - If the WebSocket fails while it still polls, the writes that waited are POSTed.
    """

    def __init__(self, url, owner, *, websockets_only=False, polling_only=False, params=None, headers=None):
        self.url, self.owner = url, owner
        self.websockets_only, self.polling_only = websockets_only, polling_only
        self.params, self.headers = params, headers
        self.tasks = set()
        self.wire = None
        self.ws = None
        self._reset()

    def _reset(self):
        self.closed = self.connected = self.fast_upgrade = self.probing = False
        self.waiting_for_poll = self.waiting_for_post = False
        self.polling = True
        self.post_wait, self.probe_wait = [], []

    def _spawn(self, coroutine):
        task = asyncio.get_running_loop().create_task(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    # Opening and closing

    async def connect(self):
        """Starts a new session."""
        await self._release()
        self._reset()
        self.wire = await Wire(self.url, self.params, self.headers).__aenter__()
        if self.websockets_only:
            self.polling = False
            self._spawn(self._web_socket())
        else:
            self._long_poll()

    async def _release(self):
        wire, self.wire = self.wire, None
        tasks = [task for task in self.tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        if self.ws is not None:
            self.ws.close()
            self.ws = None
        if wire is not None:
            await wire.session.close()

    async def disconnect(self, reason):
        """Says goodbye, if it can, and closes."""
        if self.connected and not self.closed:
            if self.polling:
                self.post_wait.append("1")
                packets, self.post_wait = self.post_wait, []
                with contextlib.suppress(Failed, aiohttp.ClientError):
                    await self.wire.post(*packets)
            else:
                self.ws.send("1")
        await self._close_out(reason)

    async def _close_out(self, reason):
        was_closed, self.closed, self.connected = self.closed, True, False
        await self._release()
        if not was_closed:
            self.owner.closed(reason)

    def _failed(self, reason):
        self._spawn(self.disconnect(reason))

    # Receiving

    def _parse(self, packet):
        kind, rest = packet[:1], packet[1:]
        if kind == "b":
            self.owner.binary(base64.b64decode(rest))
        elif kind == "0":
            self._opened(packet)
        elif kind == "1":
            self._spawn(self._close_out("closed by the server"))
        elif kind == "2":
            self.write("3")
        elif packet == "3probe":
            self._upgrade()
        elif kind == "4":
            self.owner.message(rest)
        elif kind == "6":
            self._poll()

    def _opened(self, packet):
        opening = self.wire.opened(packet)
        self.connected = True
        if not self.websockets_only:
            if "websocket" in opening["upgrades"] and not self.polling_only:
                self._spawn(self._web_socket())
            self._poll()
        self.owner.opened()

    # Sending

    def write(self, packet, attachments=()):
        """Writes a packet and its attachments by whatever carries the session now."""
        if not self.connected:
            return
        if self.probing:
            self.probe_wait.append((packet, attachments))
        elif self.polling:
            self._post(packet, attachments)
        else:
            self._write_web_socket(packet, attachments)

    def _write_web_socket(self, packet, attachments=()):
        self.ws.send(packet)
        for attachment in attachments:
            self.ws.send(attachment)

    def _flush_probe_wait(self):
        waited, self.probe_wait = self.probe_wait, []
        for packet, attachments in waited:
            self.write(packet, attachments)

    # Polling

    def _poll(self):
        if self.polling and not self.waiting_for_poll and self.connected and not self.closed:
            self._long_poll()

    def _long_poll(self):
        self.waiting_for_poll = True
        if not self.fast_upgrade:
            self._spawn(self._get())

    async def _get(self):
        try:
            packets = await self.wire.get()
        except (Failed, aiohttp.ClientError, OSError) as error:
            if self.polling:
                self._failed(str(error))
            return
        if not self.polling:
            return
        for packet in packets:
            self._parse(packet)
        self.waiting_for_poll = False
        if self.fast_upgrade:
            self._change_over()
        else:
            self._poll()

    def _post(self, packet, attachments=()):
        self.post_wait += [packet, *("b" + base64.b64encode(data).decode() for data in attachments)]
        if not self.waiting_for_post:
            self._flush_post_wait()

    def _flush_post_wait(self):
        if not self.post_wait or not self.connected:
            return
        if not self.polling:
            self._flush_post_wait_to_web_socket()
            return
        packets, self.post_wait = self.post_wait, []
        self.waiting_for_post = True
        # The noop of an upgrade gets lost here, unless a POST was on.
        if not self.fast_upgrade:
            self._spawn(self._send_post(packets))

    async def _send_post(self, packets):
        try:
            await self.wire.post(*packets)
        except (Failed, aiohttp.ClientError, OSError) as error:
            if self.polling:
                self._failed(str(error))
            return
        self.waiting_for_post = False
        if not self.fast_upgrade:
            self._flush_post_wait()
            self._poll()

    def _flush_post_wait_to_web_socket(self):
        packets, self.post_wait = self.post_wait, []
        for packet in packets:
            self.ws.send(packet)

    # WebSocket

    async def _web_socket(self):
        try:
            ws = self.ws = await self.wire.websocket()
        except (Failed, Closed, OSError) as error:
            self._web_socket_ended(str(error))
            return
        if self.websockets_only:
            self.connected, self.polling = True, False
        else:
            self.probing = True
            ws.send("2probe")
        with contextlib.suppress(Closed):
            while True:
                message = await ws._receive()
                if isinstance(message, str):
                    self._parse(message)
                else:
                    self.owner.binary(message)
        self._web_socket_ended("the WebSocket ended")

    def _web_socket_ended(self, reason):
        self.probing = False
        if self.closed:
            return
        if self.polling:
            self._flush_probe_wait()
            return
        self._spawn(self._close_out(reason))

    def _upgrade(self):
        self.fast_upgrade = True
        self._post("6")

    def _change_over(self):
        self.ws.send("5")
        self.polling = self.fast_upgrade = self.probing = False
        self._flush_probe_wait()
        self._flush_post_wait_to_web_socket()
