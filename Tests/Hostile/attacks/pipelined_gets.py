"""Requests without end, whose answers nobody reads.

Does: pipelines a million `GET /` and `GET /api/rooms/x`, with and without a token, on 60 connections with tiny
    windows, and reads nothing.
Breaks: answers pile up in memory, because they are made before earlier ones were read.
Limit: no request is read while earlier answers are unread; messages and connections of an address.
"""

from lines import Closed, Line, request

PROOF = "requests"

BLOCK = 500
BYTES = 64 << 20


async def attack(target):
    requests = [
        request("GET", "/"),
        request("GET", "/api/rooms/x"),
        request("GET", "/api/rooms/x", f"Authorization: Bearer {target.token}"),
        request("GET", "/api/openapi.json"),
    ]
    await target.crowd(60, flood, requests)


async def flood(target, requests):
    target.tally("turns")
    block = requests[target.counts["turns"] % len(requests)] * BLOCK
    async with await Line.open(target, window=2048) as line:
        while target.is_on() and target.counts["bytes"] < BYTES:
            try:
                await line.send(block, within=0.5)
            except Closed:
                # It reads no more, and that is right. The connection stays.
                await target.pause(1.0)
                await line.send(b"G", within=0.1)
            target.tally("requests", BLOCK)
        await target.pause(60)
