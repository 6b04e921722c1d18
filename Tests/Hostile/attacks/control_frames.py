"""WebSocket's own frames, as many as fit.

Does: floods with pings, unsolicited pongs, empty fragments and frames after a close, before and after CONNECT; half
    of the connections never read.
Breaks: each ping is answered into a queue that nobody reads; fragments are collected for ever.
Limit: 20 pongs at once and ten a second, then 1008; 16 fragments of a message; messages of a connection and of an
    address.
"""

import asyncio

from lines import CLOSE, PING, PONG, TEXT, frame, guest, web_socket

PROOF = "pings"

FLOODS = {
    "pings": frame(b"x" * 125, PING) * 500,
    "empty pings": frame(b"", PING) * 2000,
    "pongs": frame(b"x" * 125, PONG) * 500,
    "fragments": frame(b"4", TEXT, final=False) + frame(b"", 0, final=False) * 2000,
    "closes": frame(b"\x03\xe8", CLOSE) * 2000,
}


async def attack(target):
    await asyncio.gather(*(target.crowd(5, flood, what, reads) for what in FLOODS for reads in (True, False)))


async def flood(target, what, reads):
    async with await (guest if reads else web_socket)(target) as line:
        while target.is_on():
            await line.send(FLOODS[what])
            target.tally(what)
            if reads:
                line.discard()
            await asyncio.sleep(0)
