"""Steps of the tests that make each habit of socket.io-client-swift by hand."""

import functools
import json

from app import LOOP
from pipeline import Overdue


def on_the_loop(test):
    """Lets a test be a coroutine."""

    async def in_time(*arguments, **named):
        try:
            await test(*arguments, **named)
        except TimeoutError as late:
            raise Overdue("a step of the test came to no end") from late

    @functools.wraps(test)
    def run(*arguments, **named):
        LOOP.run(in_time(*arguments, **named), 40)

    return run


def message(*arguments):
    """The packet of an event that comes back."""
    return "42" + json.dumps(["message", *arguments], separators=(",", ":"))


def back(*arguments):
    """The same packet when it comes back."""
    return "42" + json.dumps(["message-back", *arguments], separators=(",", ":"))


async def packet_of(ws, fits):
    """The first packet on a WebSocket that fits; pings are answered on the way."""
    while True:
        packet = await ws.receive()
        if packet == "2":
            ws.send("3")
        elif fits(packet):
            return packet


async def probed(wire):
    """A WebSocket that was probed while a poll was held, and that poll's successor, which is held too."""
    held = wire.poll()
    ws = await wire.websocket()
    ws.send("2probe")
    assert await ws.receive() == "3probe"
    await held
    return ws
