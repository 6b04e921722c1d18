"""Garbage on links that are guarded by keys.

Does: writes the same to links with CURVE, and handshakes with keys that are not listed, with boxes that nobody can
    open, in pieces, endless or abandoned.
Breaks: a daemon answers a stranger, decrypts without end, or keeps something for each handshake.
Limit: `handshakeInterval` (2 s); nothing but a handshake with a listed key reaches a daemon.
"""

import asyncio
import os

import zmtp
from attacks import link_garbage

PROOF = "starts"

CURVE = zmtp.greeting(b"CURVE")
# ZeroMQ RFC 26: name, version 1.0, padding, the client's short-term key, a nonce, and a box of 80 bytes.
OPENING = b"\x05HELLO\x01\x00" + bytes(72) + os.urandom(32) + bytes(8) + os.urandom(80)
HELLO = zmtp.frame(OPENING, zmtp.COMMAND)

STARTS = link_garbage.STARTS + [
    CURVE + HELLO,
    CURVE + HELLO * 1000,
    CURVE + HELLO[:100],
    CURVE + zmtp.frame(OPENING + bytes(200), zmtp.COMMAND),
    CURVE + zmtp.frame(b"\x08INITIATE" + os.urandom(400), zmtp.COMMAND) * 100,
    CURVE + zmtp.frame(b"\x07MESSAGE" + os.urandom(400)) * 1000,
    CURVE + zmtp.READY * 100,
    CURVE + bytes([zmtp.LONG | zmtp.COMMAND]) + (1 << 62).to_bytes(8, "big"),
]


async def attack(target):
    calls = (target.crowd(1, link_garbage.write, port, start) for port in target.link_ports for start in STARTS)
    await asyncio.gather(*calls)
