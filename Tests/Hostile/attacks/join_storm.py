"""In and out of rooms.

Does: joins rooms that nobody ever wrote to, leaves them and joins them again, without waiting for an answer; half of
    the connections use 64 rooms, the others one.
Breaks: each join costs the fan-out a query, and joins of others wait behind them.
Limit: `rooms-per-connection` (64), `connection-joins-per-second`, `joins-per-second`, `joins-waiting`.
"""

import asyncio

from lines import event, guest

PROOF = "joins"


async def attack(target):
    await target.crowd(16, storm)


async def storm(target):
    async with await guest(target) as line:
        target.tally("guests")
        rooms = [f"storm-{target.counts['guests'] % 2 * number}" for number in range(64)]
        block = b"".join(
            event("room:join", {"roomId": room}, 1) + event("room:leave", {"roomId": room}, 2) for room in rooms
        )
        while target.is_on():
            await line.send(block)
            target.tally("joins", len(rooms))
            line.discard()
            await asyncio.sleep(0.01)
