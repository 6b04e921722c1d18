"""Framing without end, by way of a proxy.

Does: sends bodies in chunks of one byte with extensions of 1,000, and thousands of empty lines before each request,
    over 16 connections of a proxy that name one client.
Breaks: only the bytes of heads and bodies count for the client; the framing, a thousand times as much, counts for
    nobody.
Limit: 4 KiB of extensions and trailers beside a body; `address-bytes-per-second` counts all bytes that are read.
"""

import socket

from lines import Line, request

PROOF = "chunks"

CLIENT = "X-Forwarded-For: 203.0.113.7"
CONNECTIONS = 16
LINES = b"\r\n" * 8192
CHUNKS = (b"1;" + b"x" * 1000 + b"\r\nx\r\n") * 16
# What an address may send in a second, and what the kernels take of each connection that is not read.
RATE, UNREAD = 4 << 20, 3 << 20


async def attack(target):
    await target.crowd(CONNECTIONS, fill)


async def fill(target):
    head = request("POST", "/api/rooms/x/elements", "Transfer-Encoding: chunked", CLIENT)
    async with await Line.open(target) as line:
        # What waits here was not read there.
        line.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 128 << 10)
        await line.send(LINES + head, within=target.seconds)
        while target.is_on():
            await line.send(CHUNKS, within=target.seconds)
            target.tally("chunks", 16)


def excess(target):
    most = RATE * (target.seconds + 2) + target.counts["connections"] * UNREAD
    sent = target.counts["bytes"]
    return [f"{sent >> 20} MiB were read of one client"] if sent > most else []
