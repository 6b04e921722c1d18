"""A room that is filled up.

Does: creates elements of 8 KB in the victim's room on four connections, as fast as the rates allow, alone and in
    groups.
Breaks: the room becomes larger than what can be joined, or what its owner can delete.
Limit: `room-elements`, `room-bytes`; `commits-per-second` (30) of a connection; large rooms come in parts.
"""

import asyncio
import os

from lines import event, guest

PROOF = "elements"

CONTENT = "x" * 8000


async def attack(target):
    await asyncio.gather(target.crowd(3, fill, 1), target.crowd(1, fill, 25))


async def fill(target, group):
    async with await guest(target, target.room) as line:
        while target.is_on():
            elements = [{"type": "note", "id": os.urandom(8).hex(), "content": CONTENT} for _ in range(group)]
            await line.send(event("elements:create", {"roomId": target.room, "elements": elements}, 5))
            target.tally("elements", group)
            await line.until(rb"435\[", within=10)
            await asyncio.sleep(1 / 30 if group == 1 else 0.3)
