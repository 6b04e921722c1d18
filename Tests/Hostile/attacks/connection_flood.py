"""Connections, half-open heads and silence.

Does: connects and hangs up as fast as it can; 40 more connections send a head one byte at a time, and others send
    nothing.
Breaks: accepting eats the loop; connections that ask for nothing use up the gateway's 10,000.
Limit: 64 connections of an address and 20 new ones a second, closed before they are set up; 5 s for a head.
"""

import asyncio

from lines import Line, request, upgrade

PROOF = "connections"


async def attack(target):
    await asyncio.gather(
        target.crowd(40, drip), target.crowd(20, be_silent), target.crowd(16, hang_up),
        target.crowd(16, hang_up, upgrade()),
    )


async def drip(target):
    async with await Line.open(target) as line:
        for byte in request("GET", "/socket.io/?EIO=4&transport=polling", "X-Slow: " + "x" * 200):
            await line.send(bytes([byte]))
            await target.pause(0.25)


async def be_silent(target):
    async with await Line.open(target) as line:
        await line.ended(60)


async def hang_up(target, start=b"GET /socket.io/"):
    for _ in range(50):
        async with await Line.open(target) as line:
            await line.send(start)
