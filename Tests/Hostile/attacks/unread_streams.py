"""Streams of events that nobody reads.

Does: 30 connections with tiny windows follow a room of its own with 4 MB, and 30 another one, whose note it changes by
    8 KB at a time over HTTP; none of them reads.
Breaks: a stream has no end and its reader sends nothing: the room, and all that is committed, is kept for each of them.
Limit: `user-answer-bytes`, `answer-bytes` for the room at its beginning; half of `max-buffered-bytes` for what follows,
    and 30 s without reading; `connections-of-user`; 64 connections of an address; `memory-budget-bytes`.
"""

import asyncio
import json
import os

from lines import Line, request
from rooms import fill

PROOF = "unread streams"


async def attack(target):
    room = await fill(target)
    await asyncio.gather(target.crowd(30, follow, room), target.crowd(30, follow, "unread-stream"), target.crowd(1, change))


async def follow(target, room):
    async with await Line.open(target, window=2048) as line:
        await line.send(request("GET", f"/api/rooms/{room}/events", f"Authorization: Bearer {target.token}"))
        target.tally("unread streams")
        await target.pause(60)


async def change(target):
    async with await Line.open(target) as line:
        while target.is_on():
            element = {"id": "note", "type": "note", "content": os.urandom(4000).hex()}
            update = {"elementId": "note", "set": {"content": element["content"]}}
            commits = [{"event": "element:create", "data": {"element": element}}] if target.counts["changes"] == 0 else []
            commits += [{"event": "element:update", "data": update}] * 20
            body = json.dumps({"commits": commits[:20]}).encode()
            await line.send(
                request("POST", "/api/rooms/unread-stream/commits", f"Authorization: Bearer {target.token}", body=body))
            status, _ = await line.response(within=15)
            target.tally("changes")
            target.tally(f"status {status}")
            await asyncio.sleep(0.2)
