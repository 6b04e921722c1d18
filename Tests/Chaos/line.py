"""One Socket.IO connection over WebSocket, as cheap as Python can have it: hundreds of them in one process."""

import asyncio
import base64
import contextlib
import os
import socket

import orjson

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


def frame(opcode, payload):
    """A client's frame. The mask is all zeros: allowed, and no work."""
    size = len(payload)
    if size < 126:
        return bytes((0x80 | opcode, 0x80 | size)) + b"\0\0\0\0" + payload
    if size < 65536:
        return bytes((0x80 | opcode, 0xFE)) + size.to_bytes(2, "big") + b"\0\0\0\0" + payload
    return bytes((0x80 | opcode, 0xFF)) + size.to_bytes(8, "big") + b"\0\0\0\0" + payload


class Line(asyncio.Protocol):
    """Tells its owner: `opened()`, `event(name, data)`, `answered(id, data)`, `ended()`; each as it comes."""

    def __init__(self, owner, auth, rate=None):
        self.owner = owner
        self.auth = auth
        # Bytes a second that it reads; as fast as they come without it.
        self.rate = rate
        # Frames that are to leave in one write; None when each leaves at once.
        self.held = None
        self.buffer = bytearray()
        self.transport = None
        self.is_upgraded = False
        self.is_open = False
        # When something came last, by the loop's clock; how long silence may last.
        self.heard = 0.0
        # Where it leads to.
        self.address = None
        self.patience = 6.0

    @classmethod
    async def dial(cls, address, owner, auth, receive_buffer=None, rate=None, tls=None):
        """A line that is being opened; raises OSError when nobody listens. `tls` is whom it trusts, if it is not plain."""
        loop = asyncio.get_running_loop()
        if receive_buffer is None:
            _, line = await loop.create_connection(lambda: cls(owner, auth, rate), *address, ssl=tls)
            line.address = address
            return line
        with_small_window = socket.socket()
        with_small_window.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        with_small_window.setblocking(False)
        try:
            await loop.sock_connect(with_small_window, address)
            name = address[0] if tls else None
            _, line = await loop.create_connection(
                lambda: cls(owner, auth, rate), sock=with_small_window, ssl=tls, server_hostname=name)
        except BaseException:
            with_small_window.close()
            raise
        line.address = address
        return line

    # Out

    def emit(self, name, data):
        self._text(b"42" + orjson.dumps([name, data]))

    def call(self, number, name, data):
        """Asks for an answer, which will come under that number."""
        self._text(b"42%d" % number + orjson.dumps([name, data]))

    @contextlib.contextmanager
    def one_write(self):
        """What is sent inside leaves together."""
        self.held = []
        try:
            yield
        finally:
            frames, self.held = self.held, None
            self._write(b"".join(frames))

    def _text(self, payload):
        if self.held is None:
            self._write(frame(TEXT, payload))
        else:
            self.held.append(frame(TEXT, payload))

    def _write(self, data):
        if self.transport and not self.transport.is_closing():
            self.transport.write(data)

    def close(self):
        if self.transport:
            self.transport.abort()

    # In

    def connection_made(self, transport):
        self.transport = transport
        self.heard = asyncio.get_running_loop().time()
        transport.write(
            b"GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
            b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + base64.b64encode(os.urandom(16)) + b"\r\n\r\n"
        )

    def data_received(self, data):
        self.heard = asyncio.get_running_loop().time()
        if self.rate and not self.transport.is_closing():
            self.transport.pause_reading()
            asyncio.get_running_loop().call_later(len(data) / self.rate, self._read_on)
        self.buffer += data
        if not self.is_upgraded:
            head, found, rest = self.buffer.partition(b"\r\n\r\n")
            if not found:
                return
            if not head.startswith(b"HTTP/1.1 101"):
                return self.close()
            self.is_upgraded = True
            self.buffer = rest
        try:
            self._frames()
        except (ValueError, KeyError, IndexError):
            # Half a message at the end of a cut connection is no message; anything else would be a server's fault.
            self.owner.garbled(bytes(self.buffer[:200]))
            self.close()

    def _read_on(self):
        if not self.transport.is_closing():
            self.transport.resume_reading()

    def _frames(self):
        buffer, at = self.buffer, 0
        while len(buffer) - at >= 2:
            size, start = buffer[at + 1], at + 2
            if size == 126:
                size, start = int.from_bytes(buffer[at + 2 : at + 4], "big"), at + 4
            elif size == 127:
                size, start = int.from_bytes(buffer[at + 2 : at + 10], "big"), at + 10
            if len(buffer) < start + size:
                break
            opcode = buffer[at] & 15
            payload = bytes(buffer[start : start + size])
            at = start + size
            if opcode == TEXT:
                self._packet(payload)
            elif opcode == PING:
                self.transport.write(frame(PONG, payload))
            elif opcode == CLOSE:
                self.close()
        del buffer[:at]

    def _packet(self, text):
        kind = text[:2]
        if kind == b"42":
            name, data = orjson.loads(text[2:])[:2]
            self.owner.event(name, data)
        elif kind == b"43":
            end = text.index(b"[")
            self.owner.answered(int(text[2:end]), orjson.loads(text[end:])[0])
        elif text == b"2":
            self._text(b"3")
        elif kind[:1] == b"0":
            hello = orjson.loads(text[1:])
            self.patience = (hello["pingInterval"] + hello["pingTimeout"]) / 1000
            self._text(b"40" + orjson.dumps(self.auth))
        elif kind == b"40":
            self.is_open = True
            self.owner.opened()
        elif kind in (b"41", b"44", b"1"):
            self.close()

    def connection_lost(self, error):
        self.is_open = False
        self.owner.ended()

