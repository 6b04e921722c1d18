"""Rooms and histories over HTTP, read again and again.

Does: reads the victim's room, its history and a room that does not exist, over 32 connections.
Breaks: each page of a history is a query to PostgreSQL and up to a megabyte; the victim's joins wait behind them.
Limit: `user-requests-per-second`, `reads-waiting`; 1,000 history reads of a fan-out, 1 MiB of a page; 64 connections
    of an address.
"""

from lines import Line, request

PROOF = "status 200"


async def attack(target):
    paths = [
        f"/api/rooms/{target.room}", f"/api/rooms/{target.room}/history?after=0&limit=200", "/api/rooms/nothing-here",
        "/api/rooms/nothing-here/history",
    ]
    await target.crowd(32, read, paths)


async def read(target, paths):
    async with await Line.open(target) as line:
        while target.is_on():
            path = paths[target.counts["requests"] % len(paths)]
            await line.send(request("GET", path, f"Authorization: Bearer {target.token}"))
            target.tally("requests")
            status, _ = await line.response(within=15)
            target.tally(f"status {status}")
