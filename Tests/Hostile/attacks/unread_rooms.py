"""A large room that many request and nobody reads.

Does: fills a room of its own with 4 MB; 60 connections with tiny windows ask for it, by joins, whole or in parts, and
    over HTTP, and never read the answer.
Breaks: a small request makes a large answer, which is kept until it is read: 60 of them are 240 MB.
Limit: `user-reads`, for HTTP until the answer is read; `user-answer-bytes`, `answer-bytes`; `memory-budget-bytes`.
"""

import asyncio

from lines import Line, event, guest, request
from rooms import fill

PROOF = "unread rooms"


async def attack(target):
    room = await fill(target)
    await asyncio.gather(
        target.crowd(20, join, room, {}), target.crowd(20, join, room, {"parts": True}), target.crowd(20, ask, room)
    )


async def join(target, room, how):
    async with await guest(target, window=2048) as line:
        await line.send(event("room:join", {"roomId": room, **how}, 1))
        target.tally("unread rooms")
        await target.pause(60)


async def ask(target, room):
    text = request("GET", f"/api/rooms/{room}", f"Authorization: Bearer {target.token}")
    async with await Line.open(target, window=2048) as line:
        await line.send(text)
        target.tally("unread rooms")
        await target.pause(60)
