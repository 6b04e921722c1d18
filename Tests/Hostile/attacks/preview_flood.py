"""Previews, cursors and selections, ten thousand a second.

Does: moves 400 elements in the victim's room, points, selects and moves viewports, far above every rate.
Breaks: each preview goes through the pipeline and to every member before anybody counts it.
Limit: `previews-per-second` (120) of a connection: above it the latest of each element waits; 1,024 elements moved in
    a room; slower rooms under load.
"""

import asyncio

from lines import event, guest

PROOF = "messages"

# Seconds from one block of messages to the next: 8 guests with 500 messages each make 10,000 a second.
PERIOD = 0.4


async def attack(target):
    await target.crowd(8, flood)


async def flood(target):
    block = b"".join(event(name, {"roomId": target.room, **payload}) for name, payload in messages())
    async with await guest(target, target.room) as line:
        while target.is_on():
            await line.send(block)
            target.tally("messages", 500)
            line.discard()
            await asyncio.sleep(PERIOD)


def messages():
    """500 events with their payloads."""
    for number in range(400):
        yield "element:transforming", {"elementId": f"flood-{number}", "transform": {"rotation": number % 360}}
    for number in range(50):
        yield "cursor:moving", {"x": number, "y": number}
    for number in range(10):
        yield "selection:set", {"elementIds": [f"{number}-{index}" for index in range(100)]}
    for number in range(40):
        yield "viewport:set", {"x": number, "y": 0, "width": 9, "height": 9}
