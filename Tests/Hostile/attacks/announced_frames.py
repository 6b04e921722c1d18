"""Huge sizes announced, nothing sent.

Does: announces WebSocket frames, HTTP bodies and chunks of up to 2^64 bytes, and of 256 KiB, which are allowed, and
    sends none of them.
Breaks: memory is reserved by what a stranger announces; a length overflows.
Limit: `max-message-bytes` (256 KiB), else 1009 or 413; 64 connections of an address.
"""

import asyncio

from lines import Line, request, web_socket

PROOF = "frames"


def announced(size, opcode=0x81):
    return bytes((opcode, 0xFF)) + size.to_bytes(8, "big") + b"\0\0\0\0"


FRAMES = [announced(size) for size in (1 << 62, (1 << 64) - 1, 1 << 31, 256 << 10)] + [announced(1 << 62, opcode=0x89)]
BODIES = [
    request("POST", "/api/rooms/x/elements", f"Content-Length: {1 << 62}"),
    request("POST", "/api/rooms/x/elements", f"Content-Length: {'9' * 40}"),
    request("POST", "/api/rooms/x/elements", f"Content-Length: {256 << 10}"),
    request("POST", "/api/rooms/x/elements", "Transfer-Encoding: chunked") + b"7fffffffffffffff\r\nx",
    request("POST", "/api/rooms/x/elements", "Transfer-Encoding: chunked") + b"1\r\nx\r\n" * 1000,
]


async def attack(target):
    await asyncio.gather(
        *(target.crowd(6, announce_frame, start) for start in FRAMES),
        *(target.crowd(5, announce_body, start) for start in BODIES),
    )


async def announce_frame(target, start):
    async with await web_socket(target) as line:
        await line.send(start)
        target.tally("frames")
        await line.ended(3.0)


async def announce_body(target, start):
    async with await Line.open(target) as line:
        await line.send(start)
        target.tally("bodies")
        await line.ended(3.0)
