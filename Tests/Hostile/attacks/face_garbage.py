"""Garbage at the ZeroMQ face.

Does: random bytes, HTTP, greetings with other mechanisms, and a valid greeting with frames that are garbage, endless or
    2^62 bytes long, on the port for other back ends.
Breaks: libzmq or the gateway trusts lengths, or keeps a session for each connection that only greeted.
Limit: `max-message-bytes`; a session needs a CONNECT with a token; sessions of the face are counted.
"""

import asyncio
import os

from lines import Line

# ZMTP 3.1: signature, version, mechanism, as-server, filler; then the READY command.
GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x01%s" + bytes(32)
READY = b"\x05READY\x0bSocket-Type\0\0\0\x06DEALER"
HELLO = GREETING % b"NULL".ljust(20, b"\0") + b"\x04" + bytes([len(READY)]) + READY
STARTS = [
    b"", b"GET / HTTP/1.1\r\n\r\n" * 100, os.urandom(65536), b"\xff" * 65536,
    GREETING % b"PLAIN".ljust(20, b"\0") + os.urandom(1000), GREETING % b"CURVE".ljust(20, b"\0") + os.urandom(1000),
    HELLO + os.urandom(65536),
    HELLO + b"\x02" + (1 << 62).to_bytes(8, "big"),
    HELLO + b"\x02" + (16 << 20).to_bytes(8, "big") + b"4" * 100_000,
    HELLO + b"\x01\x01x" * 20_000,
    HELLO + b"".join(b"\0\x30" + b"40" + os.urandom(46) for _ in range(500)),
    HELLO + b"\0\x0240" * 5000,
    HELLO + b"\0\0" * 5000,
    HELLO + b"\x04\x04\x03SUB" * 5000,
]


async def attack(target):
    await asyncio.gather(*(target.crowd(4, write, start) for start in STARTS))


async def write(target, start):
    async with await Line.open(target, port=target.face_port) as line:
        await line.send(start)
        target.tally("starts")
        await line.ended(2.0)
