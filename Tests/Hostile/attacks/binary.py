"""Binary, which no event here has.

Does: sends binary frames, packets that announce attachments and never send them, attachments that nobody announced,
    and base64 over polling.
Breaks: attachments are collected in memory for a message that is never complete.
Limit: refused with 1003, or 400 over polling; nothing is collected.
"""

import asyncio
import base64
import json

from lines import BINARY, Line, frame, guest, polling, post, web_socket

PROOF = "messages"

ANNOUNCED = b'451-["element:create",{"_placeholder":true,"num":0}]'
BLOB = bytes(200_000)
FLOODS = [
    frame(ANNOUNCED), frame(ANNOUNCED) + frame(BLOB, BINARY) * 10, frame(BLOB, BINARY), frame(b"4599999999-[]"),
    frame(b'46999-1[{"_placeholder":true,"num":5}]'),
]


async def attack(target):
    await asyncio.gather(
        *(target.crowd(3, flood, way, text) for text in FLOODS for way in (web_socket, guest)),
        target.crowd(10, encoded),
    )


async def flood(target, enter, text):
    async with await enter(target) as line:
        while target.is_on():
            await line.send(text)
            target.tally("messages")
            line.discard()
            await asyncio.sleep(0.01)


async def encoded(target):
    async with await Line.open(target) as line:
        sid = await polling(target, line)
        attachment = b"b" + base64.b64encode(BLOB[:150_000])
        for packets in (b"40" + json.dumps({"token": target.token}).encode(), ANNOUNCED + b"\x1e" + attachment):
            await line.send(post(sid, packets))
            target.tally("messages")
            await line.response()
