"""Garbage at the ZeroMQ port for back ends.

Does: writes random bytes, HTTP, greetings with other mechanisms, and a valid greeting followed by frames that are
    garbage, endless or 2^62 bytes long; and sends CONNECT without a token.
Breaks: libzmq or the gateway trusts lengths, or keeps a session for each connection that only greeted.
Limit: `max-message-bytes`; a session needs a CONNECT with a token; 1,024 sessions.
"""

import asyncio
import os

import zmtp
from lines import Line

PROOF = "starts"

PACKETS = [b"40", b"40{}", b'40{"token":"x"}', b"41", b"2", b'420["room:join",{"roomId":"x"}]', b"451-[]", b"[" * 1000]
STARTS = zmtp.GARBAGE + [zmtp.HELLO + zmtp.frame(packet) * 2000 for packet in PACKETS]
STARTS.append(zmtp.HELLO + b"".join(zmtp.frame(b"40" + os.urandom(46)) for _ in range(500)))


async def attack(target):
    await asyncio.gather(*(target.crowd(3, write, start) for start in STARTS))


async def write(target, start):
    async with await Line.open(target, port=target.face_port) as line:
        await line.send(start)
        target.tally("starts")
        await line.ended(2.0)
