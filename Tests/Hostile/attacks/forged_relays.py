"""Requests that pretend to come from another gateway.

Does: requests with forged relay marks, forwarding lists of 4 KB, and session ids of this gateway, of another one and of
    none; as polls, as POSTs of 200 KB and as WebSockets.
Breaks: each request for a foreign session is a connection to another gateway, which is not counted there.
Limit: a marked request is not relayed; relays of an address; 2 s to connect; 64 connections of an address.
"""

import asyncio

from lines import Line, request, upgrade

PROOF = "requests"

UNKNOWN = "A" * 20
SIDS = [f"gateway-2.{UNKNOWN}", f"gateway-1.{UNKNOWN}", "gateway-9.x", "%00", "gateway-2." + "A" * 2000]
MARK = "X-SocketIO-Relayed: 1"
LIST = "X-Forwarded-For: " + ", ".join(["127.0.0.1"] * 400)
HIDDEN_MARK = "Connection: keep-alive, X-SocketIO-Relayed"


async def attack(target):
    heads = [(), (MARK,), (LIST,), (MARK, HIDDEN_MARK)]
    polls = [request("GET", query(sid), *fields) for sid in SIDS for fields in heads]
    posts = [request("POST", query(sid), LIST, body=b"x" * 200_000) for sid in SIDS]
    sockets = [upgrade(f"transport=websocket&sid={sid}", LIST) for sid in SIDS]
    await asyncio.gather(*(target.crowd(10, ask, texts) for texts in (polls, polls, posts, sockets)))


def query(sid):
    return f"/socket.io/?EIO=4&transport=polling&sid={sid}"


async def ask(target, texts):
    async with await Line.open(target) as line:
        while target.is_on():
            text = texts[target.counts["requests"] % len(texts)]
            target.tally("requests")
            await line.send(text)
            status, _ = await line.response()
            target.tally(f"status {status}")
