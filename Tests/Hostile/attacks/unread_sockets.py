"""Members who never read.

Does: joins the victim's room over WebSocket and polling and reads nothing from then on, and asks for the room over
    HTTP again and again; one guest moves an element, so that there is something to read.
Breaks: the gateway keeps the room's messages for each of them, or the room waits for the slowest.
Limit: `max-buffered-bytes` (1 MiB) for one connection: `room:resync` at half of it, then 4008.
"""

import asyncio
import json

from lines import Line, event, guest, polling, post, request

PROOF = "unread WebSockets"


async def attack(target):
    await asyncio.gather(
        target.crowd(20, web_socket_that_never_reads), target.crowd(15, polling_that_never_polls),
        target.crowd(15, request_that_never_reads), target.crowd(1, move),
    )


async def web_socket_that_never_reads(target):
    async with await guest(target, target.room, window=2048):
        target.tally("unread WebSockets")
        await target.pause(60)


async def polling_that_never_polls(target):
    async with await Line.open(target) as line:
        sid = await polling(target, line)
        join = "420" + json.dumps(["room:join", {"roomId": target.room}])
        for packet in ("40" + json.dumps({"token": target.token}), join):
            await line.send(post(sid, packet.encode()))
            await line.response()
        target.tally("unread sessions")
        await target.pause(60)


async def request_that_never_reads(target):
    block = request("GET", f"/api/rooms/{target.room}", f"Authorization: Bearer {target.token}") * 20
    async with await Line.open(target, window=2048) as line:
        for _ in range(10):
            await line.send(block)
            target.tally("unread requests", 20)
        await target.pause(60)


async def move(target):
    async with await guest(target, target.room) as line:
        await line.send(event("element:create", {"roomId": target.room, "element": {"type": "note", "id": "bait"}}))
        while target.is_on():
            for angle in range(20):
                payload = {"roomId": target.room, "elementId": "bait", "transform": {"rotation": angle}}
                await line.send(event("element:transforming", payload))
            line.discard()
            await target.pause(0.1)
