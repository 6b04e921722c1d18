"""JSON that is deep, wide or both.

Does: sends a CONNECT, and a guest's events, with 100,000 open brackets, arrays of 60,000 numbers, thousands of
    members and numbers of 100,000 digits.
Breaks: recursion overflows the stack; the parser fills memory for a text that it refuses anyway.
Limit: depth 32, 96 members of an object, 1,000 elements of an array; `bad-messages-per-minute` (10), then 1008.
"""

import asyncio

from lines import frame, guest, web_socket

PROOF = "messages"

ODD = [
    b"[" * 100_000,
    b'{"a":' * 40_000,
    b'{"token":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    b"[" + b"0," * 60_000 + b"0]",
    b"{" + b",".join(b'"k%d":{}' % key for key in range(15_000)) + b"}",
    b'{"x":' + b"9" * 100_000 + b"}",
    b'{"x":"' + b"\\ud800" * 30_000 + b'"}',
]


async def attack(target):
    await asyncio.gather(
        target.crowd(6, send, web_socket, b"40%s"), target.crowd(6, send, guest, b'42["element:create",%s]'),
    )


async def send(target, enter, form):
    async with await enter(target) as line:
        for text in ODD:
            await line.send(frame(form % text))
            target.tally("messages")
        await line.ended(1.0)
