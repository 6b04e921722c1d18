"""Tens of thousands of polling sessions that nobody wants.

Does: opens up to 64,000 polling sessions, with heads of 12 KB each, over 16 connections, and forgets them.
Breaks: sessions outlive their requests: each keeps its head until it times out, and no connection limit counts it.
Limit: 64 sessions of an address; a session without a CONNECT ends after `connect-request-timeout-ms`.
"""

from lines import Closed, Line, polling

PROOF = "sessions"

SESSIONS = 64_000
# Of an address at the same time; and how long one lives without a CONNECT, seconds.
LIMIT, LIFE = 64, 5
FIELDS = [f"X-Padding-{number}: {'x' * 280}" for number in range(40)]


def excess(target):
    """A fault if more sessions were opened than the limit admits, twice as many to be sure."""
    most = 2 * LIMIT * (1 + target.seconds / LIFE)
    opened = target.counts["sessions"]
    return [f"{opened} sessions were opened, at most {most:.0f} is acceptable"] if opened > most else []


async def attack(target):
    await target.crowd(16, open_many)


async def open_many(target):
    async with await Line.open(target) as line:
        while target.is_on() and target.counts["sessions"] < SESSIONS:
            await polling(target, line, *FIELDS)
        await target.pause(60)
