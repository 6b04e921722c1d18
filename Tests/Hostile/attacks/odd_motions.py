"""Motions that no eye could follow.

Does: sends animations of 10,000 keyframes, of 1,000, and of millions of turns, springs and throws with velocities of
    1e300, and snap grids of 1e-300, as fast as the rates allow.
Breaks: a motion costs as much as its numbers are large; a value that is no number is stored.
Limit: 1,000 elements of an array, 64 keyframes of a field, 8 KiB of an animation; values and lengths have ranges,
    velocities are clamped.
"""

import asyncio
import os

from lines import commit, event, guest

PROOF = "applied"

HUGE = 1e300
FAST = {"x": HUGE, "y": -HUGE}
FAR = {"positionX": HUGE, "positionY": -HUGE}


async def attack(target):
    await asyncio.gather(target.crowd(4, move), target.crowd(2, flood))


async def move(target):
    name = os.urandom(6).hex()
    async with await guest(target, target.room) as line:
        await commit(target, line, "element:create", {"element": {"type": "note", "id": name}})
        while target.is_on():
            for kind, payload in ODD:
                is_applied = await commit(target, line, kind, {"elementId": name, **payload})
                target.tally("applied" if is_applied else "refused")
                await asyncio.sleep(0.02)


async def flood(target):
    """More keyframes than an array may have."""
    animation = animated([{"at": 0.5, "value": 1}] * 10_000)
    async with await guest(target, target.room) as line:
        await line.send(event("element:animate", {"roomId": target.room, "elementId": "any", **animation}, 8))
        target.tally("floods")
        await target.pause(0.1)


def animated(keyframes, **more):
    return {"animation": {"ms": 16, "iterations": "infinite", "tracks": {"rotation": keyframes}, **more}}


def moved(**motion):
    return {"positionX": 1, "transform": {"rotation": 1}, "motion": motion}


SPRING = {"response": 10, "damping": 0.05, "velocity": {"positionX": HUGE, "rotation": -HUGE}}
POINTS = {"points": [[0, -HUGE], [0, HUGE], [1, 1]]}
ODD = [
    ("element:animate", animated([{"at": 0.5, "value": 1}] * 1000)),
    ("element:animate", animated([{"at": 1, "value": 1e9}] * 64, composite="add", direction="alternate")),
    ("element:animate", animated([{"at": 1, "value": HUGE}])),
    ("element:animate", animated([{"at": 0, "value": 0, "curve": POINTS}])),
    ("element:animate", animated([{"at": 0, "value": 0, "curve": {"bezier": [0, HUGE, 1, -HUGE]}}], iterations=HUGE)),
    ("element:throw", {"velocity": FAST, "angularVelocity": HUGE, "rate": 0.9995, "bounce": 1}),
    ("element:throw", {"velocity": FAST, **FAR, "snap": {"grid": {"x": 1e-300, "y": HUGE}}}),
    ("element:transform", moved(spring=SPRING, **{"from": {"positionX": HUGE, "rotation": HUGE}}, turn="ccw")),
    ("element:transform", moved(ms=HUGE)),
    ("element:halt", {"at": -HUGE}),
]
