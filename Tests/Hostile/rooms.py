"""Large rooms, for attacks whose small requests make large answers."""

import os

from lines import event, guest

# Bytes of an element's text, and elements of a commit.
CONTENT = "x" * 8000
GROUP = 25


async def fill(target, groups=20):
    """Fills a new room with groups of elements, 200 KB each, and returns its name."""
    room = f"large-{os.urandom(4).hex()}"
    async with await guest(target, room) as line:
        for _ in range(groups):
            elements = [{"type": "note", "id": os.urandom(8).hex(), "content": CONTENT} for _ in range(GROUP)]
            await line.send(event("elements:create", {"roomId": room, "elements": elements}, 5))
            await line.until(rb"435\[", within=10)
    return room
