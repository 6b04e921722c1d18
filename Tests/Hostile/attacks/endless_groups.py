"""Groups that fly and pulse without end.

Does: animates 500 elements in the victim's room for ever, with almost the largest animations that a group may have,
    throws them at 64 points and at a fine grid, and halts them, each as soon as the last one is answered.
Breaks: one small message makes the committer solve a thousand motions, and every member gets their texts.
Limit: 500 elements of a group; `commits-per-second`; 256 KiB of a group's animations; users take turns in a batch
    of 512 elements; a group's throw is solved once, in closed form.
"""

import asyncio
import os

from lines import commit, guest

PROOF = "applied"

GROUP = 500


async def attack(target):
    await target.crowd(1, move)


async def move(target):
    names = [os.urandom(6).hex() for _ in range(GROUP)]
    async with await guest(target, target.room) as line:
        await commit(target, line, "elements:create", {"elements": [{"type": "note", "id": name} for name in names]})
        while target.is_on():
            for kind, payload in edits(names):
                is_applied = await commit(target, line, kind, payload)
                target.tally("applied" if is_applied else "refused")
                await asyncio.sleep(0.02)


def edits(names):
    # Some 400 bytes for each element.
    tracks = {"opacity": [{"at": 0.5, "value": 0}] * 2, "scaleX": [{"at": 0.5, "value": 9, "curve": "ease"}] * 3}
    animation = {"ms": 16, "iterations": "infinite", "tracks": tracks}
    points = [{"x": 1000 * number, "y": -1000 * number} for number in range(64)]
    fast = {"velocity": {"x": 20_000, "y": -20_000}, "rate": 0.9995, "bounce": 1}
    thrown = [{"elementId": name} for name in names]
    return [
        ("elements:animate", {"elements": names, "animation": animation, "staggerMs": 10}),
        ("elements:throw", {"elements": thrown, **fast, "snap": {"points": points}}),
        ("elements:halt", {"elements": names}),
        ("elements:throw", {"elements": thrown, **fast, "snap": {"grid": {"x": 0.001, "y": 0.001}}}),
    ]
