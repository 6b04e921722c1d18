"""The same large room again and again, unread.

Does: joins a room of 4 MB again and again on two connections of one user, and reads nothing.
Breaks: each answer takes the place of the one before it in the books, but not in the output.
Limit: `user-answer-bytes`, `answer-bytes`: an answer counts until the kernel took it; then the connection that owes
    most is closed.
"""

from lines import event, guest
from rooms import fill

PROOF = "unread joins"


async def attack(target):
    room = await fill(target)
    await target.crowd(2, rejoin, room)


async def rejoin(target, room):
    async with await guest(target, window=2048) as line:
        for _ in range(200):
            await line.send(event("room:join", {"roomId": room}, 1))
            target.tally("unread joins")
            await target.pause(0.1)
