"""Commits without waiting for results.

Does: sends commits without a number to the victim's room, in bursts of 200, over 8 connections.
Breaks: they queue in front of the victim's commits, up to its deadline.
Limit: `commits-per-second` (30); one in flight and 256 that wait (`waiting-commits`) for each connection, then
    `busy`.
"""

import asyncio
import os

from lines import event, guest

PROOF = "commits"


async def attack(target):
    await target.crowd(8, flood)


async def flood(target):
    room, name = target.room, os.urandom(6).hex()
    burst = b"".join(
        event("element:transform", {"roomId": room, "elementId": name, "positionX": number}, 8) for number in range(200)
    )
    async with await guest(target, room) as line:
        await line.send(event("element:create", {"roomId": room, "element": {"type": "note", "id": name}}, 8))
        while target.is_on():
            await line.send(burst)
            target.tally("commits", 200)
            line.discard()
            await asyncio.sleep(0.05)
