"""Undos and redos without waiting for anything.

Does: guests in the victim's room make an element each and undo and redo that, 100 times in a burst, over 8 connections.
Breaks: an undo is a transaction of its own, so a few hundred a second are all that a shard's committer can do, and the
    victim's commits queue behind them.
Limit: users take turns in a batch; an undo counts for four of `commits-per-second` (30) and `user-commits-per-second`.
"""

import asyncio
import os

from lines import event, guest

PROOF = "undos"


async def attack(target):
    await target.crowd(8, flood)


async def flood(target):
    room, element = target.room, {"type": "note", "id": os.urandom(6).hex()}
    burst = b"".join(event(f"history:{way}", {"roomId": room}, 8) for way in ("undo", "redo") * 50)
    async with await guest(target, room) as line:
        await line.send(event("element:create", {"roomId": room, "element": element}, 8))
        while target.is_on():
            await line.send(burst)
            target.tally("undos", 100)
            line.discard()
            await asyncio.sleep(0.05)
