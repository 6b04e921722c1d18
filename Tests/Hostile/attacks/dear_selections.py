"""Large selections, shown to everyone who joins.

Does: shows selections of 500 long ids on 14 connections of one user in a room of its own; 40 others of the same user
    join and leave it without end, and read everything.
Breaks: a join of 60 bytes makes an answer of 800 KB, in the fan-out and in the gateway, before anybody counts it.
Limit: the fan-out tells the size of an answer before it makes it; four times `user-answer-bytes` a second for a user.
"""

import asyncio
import os

from lines import event, guest

PROOF = "joins"


async def attack(target):
    room = f"dear-{os.urandom(4).hex()}"
    await asyncio.gather(target.crowd(14, select, room), target.crowd(40, come_and_go, room))


async def select(target, room):
    async with await guest(target) as line:
        await line.send(event("room:join", {"roomId": room}, 1))
        await target.pause(0.2)
        line.discard()
        ids = [os.urandom(60).hex() for _ in range(500)]
        await line.send(event("selection:set", {"roomId": room, "elementIds": ids}, 2))
        target.tally("selections")
        while target.is_on():
            line.discard()
            await target.pause(0.1)


async def come_and_go(target, room):
    async with await guest(target) as line:
        while target.is_on():
            await line.send(event("room:join", {"roomId": room}, 1) + event("room:leave", {"roomId": room}, 2))
            target.tally("joins")
            line.discard()
            await target.pause(0.06)
