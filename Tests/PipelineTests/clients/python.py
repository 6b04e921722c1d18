"""python-socketio."""

import asyncio
import contextlib

import socketio

from app import LOOP
from clients.client import Client


class PythonClient(Client):
    """python-socketio's asynchronous client, as it is installed."""

    def start(self, url, auth, reconnects):
        self.url = url
        self.client = socketio.AsyncClient(
            reconnection=reconnects, reconnection_delay=0.2, reconnection_delay_max=0.5, randomization_factor=0.2
        )

        async def connected():
            self.note("connect", [])

        async def disconnected(reason=None):
            self.note("disconnect", [reason])

        async def refused(data=None):
            # While it reconnects it tells of every failed attempt too, with text.
            if isinstance(data, dict):
                self.note("connect_error", [data])

        async def received(name, *arguments):
            self.note(name, arguments)
            # A tuple is the arguments of the acknowledgement, if the server asked for one.
            return tuple(self.answer(list(arguments)))

        self.client.on("connect", connected)
        self.client.on("disconnect", disconnected)
        self.client.on("connect_error", refused)
        self.client.on("*", received)
        self.start_again(auth)

    def start_again(self, auth):
        async def connect():
            # After the server's DISCONNECT it still closes its engine.
            while self.client.eio.state != "disconnected":
                await asyncio.sleep(0.01)
            with contextlib.suppress(socketio.exceptions.ConnectionError):
                await self.client.connect(self.url, auth=auth, transports=self.transports, wait_timeout=10)

        LOOP.run(connect(), 20)

    def emit(self, event, *arguments):
        LOOP.run(self.client.emit(event, tuple(arguments)), 10)

    def emit_all(self, event, *payloads):
        """Emits an event for each payload, without a pause."""

        async def emit():
            for payload in payloads:
                await self.client.emit(event, payload)

        LOOP.run(emit(), 10)

    def call(self, event, *arguments, within=10.0):
        async def call():
            answered = asyncio.get_running_loop().create_future()
            await self.client.emit(event, tuple(arguments), callback=lambda *answer: answered.set_result(list(answer)))
            return await asyncio.wait_for(answered, within)

        return LOOP.run(call(), within + 5)

    @property
    def transport(self):
        return self.client.transport()

    def close(self):
        LOOP.run(self.client.disconnect(), 10)
