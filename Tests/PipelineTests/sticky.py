"""A proxy in front of several servers that keeps each app on one of them by a cookie, as load balancers do."""

import asyncio
import contextlib
import itertools
import re


class StickyProxy:
    """Connections without the cookie go to the servers in turn. Use it in `async with`."""

    COOKIE = re.compile(rb"^cookie:.*\broute=(\d+)", re.I | re.M)

    def __init__(self, ports):
        self.ports = ports
        self.turns = itertools.count()
        # The servers that an app was sent to by its cookie.
        self.chosen = set()
        self.connections = set()

    async def __aenter__(self):
        self.server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_):
        self.server.close()
        for connection in list(self.connections):
            connection.cancel()

    async def _connected(self, reader, writer):
        self.connections.add(asyncio.current_task())
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await self._serve(reader, writer)
        writer.close()
        self.connections.discard(asyncio.current_task())

    async def _serve(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        cookie = self.COOKIE.search(head)
        if cookie:
            index = int(cookie[1])
            self.chosen.add(index)
        else:
            index = next(self.turns) % len(self.ports)
        back_reader, back_writer = await asyncio.open_connection("127.0.0.1", self.ports[index])
        back_writer.write(head)
        sending = asyncio.create_task(self._copy(reader, back_writer))
        try:
            answer = await back_reader.readuntil(b"\r\n")
            writer.write(answer + f"Set-Cookie: route={index}; Path=/\r\n".encode())
            await self._copy(back_reader, writer)
        finally:
            sending.cancel()
            back_writer.close()

    @staticmethod
    async def _copy(reader, writer):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()
