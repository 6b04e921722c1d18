"""Commits as large as allowed.

Does: creates elements in rooms of its own, 200 KB in each commit, over 40 connections, without waiting.
Breaks: all apps share the bytes of commits in flight: one guest uses them up, and others are refused or wait behind
    megabytes.
Limit: `address-bytes-per-second`; `waiting-commits` of a connection; `in-flight-bytes` (64 MiB) of all apps, an eighth
    for a user.
"""

import os

from lines import event, guest

PROOF = "commits"

CONTENT = "x" * 8000
GROUP = 25
# Fan-outs and committers may keep what was stored: less than a daemon may grow.
BYTES = 40 << 20


async def attack(target):
    await target.crowd(40, flood)


async def flood(target):
    room = f"heavy-{os.urandom(4).hex()}"
    async with await guest(target, room) as line:
        while target.is_on() and target.counts["bytes"] < BYTES:
            elements = [{"type": "note", "id": os.urandom(8).hex(), "content": CONTENT} for _ in range(GROUP)]
            await line.send(event("elements:create", {"roomId": room, "elements": elements}, 6), within=5.0)
            target.tally("commits")
            line.discard()
        await target.pause(60)
