"""Connections as raw bytes, so that they can be wrong in every way; and the few words of each protocol."""

import asyncio
import json
import re
import socket

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
# The key of the example in RFC 6455, section 1.3.
KEY = b"dGhlIHNhbXBsZSBub25jZQ=="


class Closed(Exception):
    """The server ended or refused the connection, or did not go on within the time limit."""


class Line:
    """One TCP connection whose both directions are driven by hand: what is not read stays in the kernel."""

    def __init__(self, target, connection):
        self.target = target
        self.socket = connection
        self.buffer = b""

    @classmethod
    async def open(cls, target, port=None, window=None, within=5.0):
        """A connection; `window` bytes at most are received by the kernel while nobody reads."""
        connection = socket.socket()
        connection.setblocking(False)
        if window:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        try:
            async with asyncio.timeout(within):
                await asyncio.get_running_loop().sock_connect(connection, (target.host, port or target.port))
        except (OSError, TimeoutError) as error:
            connection.close()
            raise Closed(f"connect: {error}") from None
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        target.tally("connections")
        return cls(target, connection)

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    async def send(self, data, within=1.0):
        """Sends everything, or finds that the server does not read it in time."""
        try:
            async with asyncio.timeout(within):
                await asyncio.get_running_loop().sock_sendall(self.socket, data)
        except (OSError, TimeoutError) as error:
            raise Closed(f"send: {error}") from None
        self.target.tally("bytes", len(data))

    async def read(self, within=5.0):
        """What arrived, at least one byte."""
        try:
            async with asyncio.timeout(within):
                data = await asyncio.get_running_loop().sock_recv(self.socket, 65536)
        except (OSError, TimeoutError) as error:
            raise Closed(f"read: {error}") from None
        if not data:
            raise Closed("end")
        return data

    def discard(self):
        """Drops what has arrived, without waiting."""
        self.buffer = b""
        try:
            for _ in range(64):
                if not self.socket.recv(65536):
                    raise Closed("end")
        except BlockingIOError:
            pass
        except OSError as error:
            raise Closed(f"read: {error}") from None

    async def until(self, pattern, within=5.0):
        """Reads until a regular expression matches; drops everything up to the end of the match."""
        while not (found := re.search(pattern, self.buffer, re.DOTALL)):
            # A match is short: of a long stream only the end is searched again.
            self.buffer = self.buffer[-4096:] + await self.read(within)
        self.buffer = self.buffer[found.end() :]
        return found

    async def response(self, within=5.0):
        """Status and body of the next HTTP response."""
        found = await self.until(rb"HTTP/1\.1 (\d+)[^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n", within)
        length = re.search(rb"(?i)content-length: *(\d+)", found[2])
        size = int(length[1]) if length else 0
        while len(self.buffer) < size:
            self.buffer += await self.read(within)
        body, self.buffer = self.buffer[:size], self.buffer[size:]
        return int(found[1]), body

    async def ended(self, within=10.0):
        """Reads until the server ends the connection; false when it does not do so in time."""
        try:
            async with asyncio.timeout(within):
                while True:
                    await self.read(within)
        except (Closed, TimeoutError) as reason:
            return not isinstance(reason, TimeoutError)


def request(method, path, *fields, body=b""):
    """An HTTP request; `fields` are lines of its head."""
    head = [f"{method} {path} HTTP/1.1", "Host: pipeline", *fields]
    if body:
        head.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*head, "", ""]).encode() + body


def frame(payload, opcode=TEXT, final=True):
    """A client's WebSocket frame. The mask is all zeros, which is allowed and no work."""
    size = len(payload)
    start = bytes(((0x80 if final else 0) | opcode,))
    if size < 126:
        start += bytes((0x80 | size,))
    elif size < 65536:
        start += b"\xfe" + size.to_bytes(2, "big")
    else:
        start += b"\xff" + size.to_bytes(8, "big")
    return start + b"\0\0\0\0" + payload


def event(name, payload, number=None):
    """A frame with a Socket.IO event; with a number it wants an acknowledgement."""
    return frame(f"42{'' if number is None else number}{json.dumps([name, payload])}".encode())


def upgrade(query="transport=websocket", *fields):
    """The request that opens a WebSocket."""
    return request(
        "GET", f"/socket.io/?EIO=4&{query}", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {KEY.decode()}", *fields,
    )


async def web_socket(target, window=None):
    """An open WebSocket with an Engine.IO session, which has not yet sent CONNECT."""
    line = await Line.open(target, window=window)
    try:
        await line.send(upgrade())
        await line.until(rb'"maxPayload":\d+}')
    except BaseException:
        line.close()
        raise
    return line


async def guest(target, room=None, window=None, payload=None):
    """A WebSocket that came in with the guest's token, in a room if one is named."""
    line = await web_socket(target, window)
    try:
        await line.send(frame(b"40" + json.dumps({"token": target.token, **(payload or {})}).encode()))
        await line.until(rb'40{"sid"')
        if room:
            await line.send(event("room:join", {"roomId": room}, 1))
            await line.until(rb'431\[{"ok":true', within=10)
    except BaseException:
        line.close()
        raise
    return line


async def commit(target, line, name, payload):
    """Commits in the victim's room and waits for the answer: whether it was applied."""
    await line.send(event(name, {"roomId": target.room, **payload}, 9))
    answer = await line.until(rb'439\[\{"ok":(true|false)', within=20)
    return answer[1] == b"true"


async def polling(target, line, *fields):
    """Opens a polling session on a connection and returns its id."""
    await line.send(request("GET", "/socket.io/?EIO=4&transport=polling", *fields))
    status, body = await line.response()
    if status != 200:
        target.tally(f"status {status}")
        raise Closed(f"status {status}")
    target.tally("sessions")
    return json.loads(body[1:])["sid"]


def post(sid, body):
    """A POST of packets to a polling session."""
    return request("POST", f"/socket.io/?EIO=4&transport=polling&sid={sid}", body=body)


def poll(sid):
    """A poll of a polling session."""
    return request("GET", f"/socket.io/?EIO=4&transport=polling&sid={sid}")
