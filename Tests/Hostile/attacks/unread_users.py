"""A large room, unread by many users.

Does: joins a room of 4 MB over and over as ten users with four connections each, and reads hardly anything; an
    innocent user joins the same room twice a second and reads it.
Breaks: unread answers fill a budget that all share, and other users' joins wait for it or are refused.
Limit: `answer-bytes`: connections that hardly read are closed, and for a minute their users share half of it; nine of
    ten joins of the innocent user take less than a second.
"""

import asyncio
import time

from lines import event, guest
from rooms import fill

PROOF = "unread joins"

# How long the innocent user may wait for the first bytes of a room, s.
PATIENCE = 1.0


async def attack(target):
    room = await fill(target)
    target.waits = []
    strangers = (target.crowd(4, join, room, token) for token in target.tokens[1:])
    await asyncio.gather(target.crowd(1, innocent, room, target.tokens[0]), *strangers)


async def join(target, room, token):
    async with await guest(target, window=2048, payload={"token": token}) as line:
        await line.send(event("room:join", {"roomId": room}, 1))
        target.tally("unread joins")
        for _ in range(60):
            await target.pause(1)
            await line.send(event("room:join", {"roomId": room}, 1))


async def innocent(target, room, token):
    async with await guest(target, payload={"token": token}) as line:
        while target.is_on():
            start = time.monotonic()
            await line.send(event("room:join", {"roomId": room}, 1))
            found = await line.until(rb'431\[{"ok":(\w+)', within=10)
            target.tally("innocent joins" if found[1] == b"true" else "innocent refusals")
            target.waits.append(time.monotonic() - start)
            if found[1] == b"true":
                await line.until(rb'"limits":', within=10)
            await target.pause(0.5)


def excess(target):
    """The innocent user waits, or is refused."""
    waits = sorted(target.waits)
    late = waits[len(waits) * 9 // 10] if waits else float("inf")
    faults = [f"an innocent user waits {late:.1f} s for a large room"] if late > PATIENCE else []
    refused = target.counts["innocent refusals"]
    return faults + ([f"{refused} joins of an innocent user are refused"] if refused else [])
