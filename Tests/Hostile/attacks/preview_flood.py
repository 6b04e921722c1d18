"""Previews, cursors and selections, ten thousand a second.

Does: guests in the victim's room move 2,000 elements, point and select, far above every rate.
Breaks: each preview goes through the pipeline and to every member before somebody counts.
Limit: `previews-per-second` (120) of a connection, folded above it; 1024 elements moved; paces under load.
"""

import asyncio

from lines import event, guest

TURNS = 20


async def attack(target):
    await target.crowd(8, flood)


async def flood(target):
    room = target.room
    previews = [
        event("element:transforming", {"roomId": room, "elementId": f"flood-{number}", "transform": {"rotation": number % 360}})
        for number in range(400)
    ]
    people = [event("cursor:moving", {"roomId": room, "x": number, "y": number}) for number in range(50)]
    people += [
        event("selection:set", {"roomId": room, "elementIds": [f"{number}-{index}" for index in range(100)]}) for number in range(10)
    ]
    viewports = [event("viewport:set", {"roomId": room, "x": number, "y": 0, "width": 9, "height": 9}) for number in range(40)]
    block = b"".join(previews + people + viewports)
    async with await guest(target, room) as line:
        while target.is_on():
            await line.send(block)
            target.tally("messages", 500)
            line.discard()
            await asyncio.sleep(8 / TURNS)
