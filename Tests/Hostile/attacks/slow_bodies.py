"""Bodies that never come.

Does: announces bodies of 256 KiB to the HTTP API and of 1 MiB to polling sessions, and sends a byte a second, or all
    but the last byte of 256 KiB.
Breaks: memory is reserved for each announced body, and each request occupies its connection for ever.
Limit: 30 s for a body; 256 KiB of a body or of a packet; 64 connections of an address.
"""

import asyncio

from lines import Line, polling, request

PROOF = "bodies"

SIZE = 256 << 10


async def attack(target):
    await asyncio.gather(
        *(target.crowd(15, act, as_session) for act in (drip, all_but_the_last_byte) for as_session in (True, False))
    )


async def drip(target, as_session):
    async with await Line.open(target) as line:
        await line.send(await head(target, line, as_session))
        while target.is_on():
            await line.send(b"x")
            await target.pause(1)


async def all_but_the_last_byte(target, as_session):
    async with await Line.open(target) as line:
        await line.send(await head(target, line, as_session) + b"x" * (SIZE - 1))
        await target.pause(60)


async def head(target, line, as_session):
    target.tally("bodies")
    path, size = "/api/rooms/x/elements", SIZE
    if as_session:
        path, size = f"/socket.io/?EIO=4&transport=polling&sid={await polling(target, line)}", 4 * SIZE
    return request("POST", path, f"Content-Length: {size}", f"Authorization: Bearer {target.token}")
