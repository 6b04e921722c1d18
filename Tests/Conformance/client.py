"""A client that can do what a good one never would: it speaks over bare sockets and stops wherever it likes."""

import asyncio
import json
import os
import socket
import struct

PATH = "/socket.io/?EIO=4&transport="


class Lost(Exception):
    """The server ended the session or the connection."""


class Connection:
    """One TCP connection that speaks HTTP until it is upgraded."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, port):
        raw = socket.socket()
        # Small, so that what is not read stays with the server.
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        raw.setblocking(False)
        await asyncio.get_running_loop().sock_connect(raw, ("127.0.0.1", port))
        return cls(*await asyncio.open_connection(sock=raw))

    async def get(self, path):
        """The body of the answer to a GET."""
        self.writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = (await self.read(self.reader.readuntil(b"\r\n\r\n"))).decode().lower()
        length = int(head.split("content-length: ")[1].split("\r\n")[0])
        body = (await self.read(self.reader.readexactly(length))).decode()
        if " 200 " not in head.split("\r\n")[0]:
            raise Lost(head.split("\r\n")[0])
        return body

    async def upgrade(self, path):
        """Makes it a WebSocket."""
        self.writer.write(
            f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
        head = await self.read(self.reader.readuntil(b"\r\n\r\n"))
        if b" 101 " not in head:
            raise Lost(head)
        return self

    def send(self, text):
        """Sends one text frame; `drain` waits until the kernel has it."""
        self.writer.write(frame(0x81, text.encode()))

    def close_frame(self):
        self.writer.write(frame(0x88, struct.pack(">H", 1000)))

    async def receive(self):
        """The next message; pings of Engine.IO are answered."""
        while True:
            first, second = await self.read(self.reader.readexactly(2))
            length = second & 127
            if length == 126:
                length = struct.unpack(">H", await self.read(self.reader.readexactly(2)))[0]
            elif length == 127:
                length = struct.unpack(">Q", await self.read(self.reader.readexactly(8)))[0]
            payload = await self.read(self.reader.readexactly(length))
            if first == 0x88:
                raise Lost(payload)
            if payload == b"2":
                self.send("3")
            else:
                return payload.decode()

    async def read(self, reading):
        try:
            return await asyncio.wait_for(reading, 15)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise Lost(str(error)) from error

    async def ended(self):
        """Waits until the server closes."""
        try:
            while await asyncio.wait_for(self.reader.read(65536), 15):
                pass
        except ConnectionError:
            pass

    def reset(self):
        """Ends it by RST."""
        raw = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    def close(self):
        self.writer.close()


async def polling(port):
    """A session opened by polling: its connection and its id."""
    connection = await Connection.open(port)
    return connection, json.loads((await connection.get(PATH + "polling"))[1:])["sid"]


async def member(port):
    """A WebSocket session that is connected to the main namespace and was greeted."""
    connection = await (await Connection.open(port)).upgrade(PATH + "websocket")
    await connection.receive()
    connection.send("40")
    await connection.receive()
    await connection.receive()
    return connection


def frame(first, payload):
    """A masked frame."""
    length = len(payload)
    if length < 126:
        head = struct.pack(">BB", first, 128 | length)
    elif length < 65536:
        head = struct.pack(">BBH", first, 128 | 126, length)
    else:
        head = struct.pack(">BBQ", first, 128 | 127, length)
    mask = os.urandom(4)
    key = int.from_bytes((mask * (length // 4 + 1))[:length], "big")
    return head + mask + (int.from_bytes(payload, "big") ^ key).to_bytes(length, "big")
