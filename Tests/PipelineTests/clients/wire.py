"""The wire as socket.io-client-swift writes it: Engine.IO by hand, one request and one frame at a time.

The spelling is what that client and its WebSocket library send: `transport=polling&b64=1`, the application's own
parameters before `EIO=4`, `Sec-Websocket-Key`, `Origin: ws://host:port`, an offer of permessage-deflate that is not
insisted on, and the cookies that polling was given also on the WebSocket.
"""

import asyncio
import base64
import contextlib
import hashlib
import json
import os
import struct
import urllib.parse

import aiohttp
import yarl

SEPARATOR = "\x1e"
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


class Failed(Exception):
    """A request was answered with another status than it had to be."""

    def __init__(self, status, body=""):
        super().__init__(f"{status} {body}")
        self.status, self.body = status, body


class Closed(Exception):
    """The WebSocket is closed; `code` is the server's, None if it vanished."""

    def __init__(self, code=None):
        super().__init__(f"closed with {code}")
        self.code = code


class WebSocket:
    """One WebSocket, in the header spelling of Starscream."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, url, headers=None, compress=False):
        """Shakes hands; raises `Failed`. The answer's head is `head` of the result."""
        parts = urllib.parse.urlsplit(url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            f"GET {parts.path}?{parts.query} HTTP/1.1", f"Host: {parts.netloc}", "Upgrade: websocket",
            "Connection: Upgrade", f"Sec-Websocket-Key: {key}", "Sec-Websocket-Version: 13",
        ]
        headers = {"Origin": f"ws://{parts.netloc}", **(headers or {})}
        if compress:
            offer = "permessage-deflate; client_max_window_bits; server_max_window_bits=15"
            headers["Sec-Websocket-Extensions"] = offer
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except asyncio.IncompleteReadError as short:
            writer.close()
            raise Closed() from short
        status = int(head.split(" ", 2)[1])
        if status != 101:
            writer.close()
            raise Failed(status, head)
        accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
        assert f"sec-websocket-accept: {accept.decode().lower()}" in head.lower(), head
        self = cls(reader, writer)
        self.head = head
        return self

    def send(self, data):
        """Sends a text or, for bytes, a binary message."""
        text = isinstance(data, str)
        self._frame(TEXT if text else BINARY, data.encode() if text else bytes(data))

    def _frame(self, opcode, data):
        mask = os.urandom(4)
        size = len(data)
        if size < 126:
            head = struct.pack("!BB", 0x80 | opcode, 0x80 | size)
        elif size < 65536:
            head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, size)
        repeated = (mask * (size // 4 + 1))[:size]
        masked = (int.from_bytes(data, "big") ^ int.from_bytes(repeated, "big")).to_bytes(size, "big")
        self.writer.write(head + mask + masked)

    async def receive(self, within=8.0):
        """The next message, text or bytes; raises `Closed`."""
        return await asyncio.wait_for(self._receive(), within)

    async def _receive(self):
        kind, parts = None, []
        while True:
            try:
                first, second = await self.reader.readexactly(2)
                size = second & 0x7F
                if size >= 126:
                    size = int.from_bytes(await self.reader.readexactly(2 if size == 126 else 8), "big")
                data = await self.reader.readexactly(size)
            except (asyncio.IncompleteReadError, OSError) as end:
                self.writer.close()
                raise Closed() from end
            assert first & 0x70 == 0 and second & 0x80 == 0, "a compressed or masked frame from a server"
            opcode = first & 0x0F
            if opcode == CLOSE:
                with contextlib.suppress(OSError):
                    self._frame(CLOSE, data)
                self.writer.close()
                raise Closed(int.from_bytes(data[:2], "big") if data else None)
            if opcode == PING:
                self._frame(PONG, data)
            elif opcode != PONG:
                kind = opcode or kind
                parts.append(data)
                if first & 0x80:
                    whole = b"".join(parts)
                    return whole.decode() if kind == TEXT else whole

    def close(self):
        """Says goodbye."""
        with contextlib.suppress(OSError):
            self._frame(CLOSE, struct.pack("!H", 1000))
            self.writer.close()


class Wire:
    """One Engine.IO session, driven step by step. Use it in `async with`."""

    def __init__(self, url, params=None, headers=None, tls=True):
        self.base = url.rstrip("/") + "/socket.io/?"
        self.params = "".join(f"&{key}={urllib.parse.quote(str(value))}" for key, value in (params or {}).items())
        self.headers = headers or {}
        self.tls = tls
        self.sid = None
        self.opening = None
        # Polling answers may hold several packets; those not taken yet.
        self.waiting = []

    async def __aenter__(self):
        # Cookies of a server that has no name are kept too.
        self.session = aiohttp.ClientSession(
            headers=self.headers, cookie_jar=aiohttp.CookieJar(unsafe=True),
            timeout=aiohttp.ClientTimeout(total=60), connector=aiohttp.TCPConnector(limit=6, ssl=self.tls),
        )
        return self

    async def __aexit__(self, *_):
        await self.session.close()

    @property
    def _polling_url(self):
        sid = f"&sid={self.sid}" if self.sid else ""
        return f"{self.base}transport=polling&b64=1{self.params}&EIO=4{sid}"

    @property
    def _websocket_url(self):
        sid = f"&sid={self.sid}" if self.sid else ""
        return f"{self.base}transport=websocket{self.params}&EIO=4{sid}"

    async def get(self):
        """One GET: the packets of its answer. Raises `Failed`."""
        async with self.session.get(self._polling_url) as answer:
            text = await answer.text()
            if answer.status != 200:
                raise Failed(answer.status, text)
            assert answer.headers["Content-Type"].lower() == "text/plain; charset=utf-8", answer.headers
            return text.split(SEPARATOR)

    def poll(self):
        """The same without waiting for it: a task."""
        return asyncio.get_running_loop().create_task(self.get())

    async def post(self, *packets):
        """One POST; raises `Failed`."""
        headers = {"Content-Type": "text/plain; charset=UTF-8"}
        body = SEPARATOR.join(packets).encode()
        async with self.session.post(self._polling_url, data=body, headers=headers) as answer:
            text = await answer.text()
            if answer.status != 200:
                raise Failed(answer.status, text)
            assert text.lower() == "ok", text

    async def open(self):
        """The opening GET: what the open packet says."""
        [packet] = await self.get()
        return self.opened(packet)

    def opened(self, packet):
        """Takes the open packet."""
        assert packet[0] == "0", packet
        self.opening = json.loads(packet[1:])
        self.sid = self.opening["sid"]
        return self.opening

    async def next(self, within=8.0):
        """The next packet that is no ping, by polling; pings are answered."""
        async with asyncio.timeout(within):
            while True:
                while self.waiting:
                    packet = self.waiting.pop(0)
                    if packet != "2":
                        return packet
                    await self.post("3")
                self.waiting = await self.get()

    async def websocket(self, compress=False, headers=None):
        """A WebSocket for this session, or for a new one before `open`; with the cookies of polling."""
        cookies = self.session.cookie_jar.filter_cookies(yarl.URL(self.base))
        headers = {**self.headers, **(headers or {})}
        if cookies:
            headers["Cookie"] = "; ".join(f"{name}={morsel.value}" for name, morsel in cookies.items())
        return await WebSocket.open(self._websocket_url, headers, compress)

    async def enter(self, payload="{}"):
        """CONNECT by POST and its answer by GET, spelt `40/,`: what the answer says."""
        await self.post("40/," + payload)
        packet = await self.next()
        assert packet.startswith("40{"), packet
        return json.loads(packet[2:])
