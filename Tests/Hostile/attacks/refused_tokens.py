"""Bad tokens, over and over.

Does: sends CONNECT, HTTP requests and a guest's `auth:refresh` with tokens that are forged, long, for another
    algorithm or nonsense, thousands of times on one connection.
Breaks: verifying a signature costs more than sending one, so a few strangers keep the loop busy.
Limit: token checks of a connection and of an address; ten refused tokens end a connection.
"""

import asyncio
import json

from lines import Line, event, frame, guest, request, web_socket

PROOF = "connects"

# {"alg":"ES256","typ":"JWT","kid":"1"}
OTHER_ALGORITHM = "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6IjEifQ"


def forged(token):
    """Tokens that look like this one and are no good."""
    head, claims, mac = token.split(".")
    return [
        f"{head}.{claims}.{mac[:-8]}AAAAAAAA",
        f"{head}.{'A' * 8000}.{mac}",
        f"{OTHER_ALGORITHM}.{claims}.{mac}{mac}",
        "x" * 12_000,
    ]


async def attack(target):
    tokens = forged(target.token)
    await asyncio.gather(
        *(target.crowd(5, connect, token) for token in tokens), *(target.crowd(5, ask, token) for token in tokens),
        *(target.crowd(3, refresh, token) for token in tokens),
    )


async def connect(target, token):
    packet = frame(b"40" + json.dumps({"token": token}).encode()) * 20
    async with await web_socket(target) as line:
        while target.is_on():
            await line.send(packet)
            target.tally("connects", 20)
            line.discard()
            await asyncio.sleep(0.01)


async def ask(target, token):
    # A head may have 16 KiB.
    text = request("GET", "/api/rooms/x", f"Authorization: Bearer {token[:12000]}")
    async with await Line.open(target) as line:
        while target.is_on():
            await line.send(text)
            target.tally("requests")
            await line.response()


async def refresh(target, token):
    packet = event("auth:refresh", {"token": token}, 7) * 20
    async with await guest(target) as line:
        while target.is_on():
            await line.send(packet)
            target.tally("refreshes", 20)
            line.discard()
            await asyncio.sleep(0.01)
