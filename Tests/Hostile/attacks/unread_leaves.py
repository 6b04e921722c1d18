"""In and out of a large room without reading it.

Does: joins a room of 4 MB on two connections of one user and leaves it again without reading, dozens of times; on two
    more it comes back under another session instead.
Breaks: the bytes of an answer are given back when its app leaves, although they still wait in the output.
Limit: `user-answer-bytes`, `answer-bytes`: an answer counts until the kernel took it; then the connection that owes
    most is closed.
"""

import asyncio
import json

from lines import event, frame, guest
from rooms import fill

PROOF = "unread joins"


async def attack(target):
    room = await fill(target)
    leave = event("room:leave", {"roomId": room}, 2)
    entrance = frame(b"41") + frame(b"40" + json.dumps({"token": target.token}).encode())
    await asyncio.gather(target.crowd(2, come_and_go, room, leave, 0), target.crowd(2, come_and_go, room, entrance, 0.5))


async def come_and_go(target, room, goodbye, stay):
    async with await guest(target, window=2048) as line:
        for _ in range(100):
            await line.send(event("room:join", {"roomId": room}, 1))
            target.tally("unread joins")
            await target.pause(0.05 + stay)
            await line.send(goodbye)
            await target.pause(0.05)
