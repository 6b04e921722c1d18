"""Garbage on the links between the daemons.

Does: writes, from the same machine, to every port on which a daemon waits for another: other protocols, links of
    other versions, and a valid greeting followed by garbage.
Breaks: a daemon that trusts its neighbours reads beyond a record, believes a length, or stops.
Limit: `handshakeInterval` (2 s); every record is checked; a peer that sends garbage loses its connection.
"""

import asyncio
import os

import zmtp
from lines import Line

PROOF = "starts"

HELLO, DATA = b"\0", b"\x04"


def hello(version, name=b"stranger"):
    """A link's greeting: version of the links, of what they carry, instance, incarnation, name."""
    versions = (1).to_bytes(2, "big") + version.to_bytes(2, "big")
    return zmtp.message(HELLO, versions + os.urandom(8) + bytes(4) + bytes([len(name)]) + name)


STARTS = zmtp.GARBAGE + [
    *(zmtp.HELLO + hello(version) + zmtp.message(DATA, os.urandom(200)) * 200 for version in range(12)),
    *(zmtp.HELLO + hello(version) + zmtp.message(DATA, b"TS\1\0" + b"\xff" * 60) * 200 for version in range(12)),
    zmtp.HELLO + hello(1, b"x" * 255) * 100,
    zmtp.HELLO + b"".join(zmtp.message(bytes([kind]), os.urandom(kind)) for kind in range(256)) * 4,
]


async def attack(target):
    await asyncio.gather(*(target.crowd(1, write, port, start) for port in target.link_ports for start in STARTS))


async def write(target, port, start):
    async with await Line.open(target, port=port) as line:
        await line.send(start)
        target.tally("starts")
        await line.ended(0.5)
