"""A stranger on a machine of its own: runs one attack until its time is over and prints what it managed to do.

    stranger.py ATTACK < JSON of a target's fields
"""

import asyncio
import collections
import importlib
import json
import resource
import sys
import time

from lines import Closed

# What a stranger's own program may use, bytes: a mistake in an attack must not end the machine.
MEMORY = 1 << 30


class Target:
    """Whom an attack is on, for how long, and what it did so far."""

    def __init__(self, host, port, link_ports, seconds, token, tokens, room):
        self.host = host
        # The first gateway's, where the victim is; the second's is the next one.
        self.port = port
        # Where daemons wait for each other; none on a pipeline that uses sockets in files.
        self.link_ports = link_ports
        # A guest's, good for every room.
        self.token = token
        # Of further users, likewise.
        self.tokens = tokens
        # The victim's.
        self.room = room
        self.seconds = seconds
        self.end = time.monotonic() + seconds
        self.counts = collections.Counter()

    def is_on(self):
        return time.monotonic() < self.end

    def tally(self, what, count=1):
        self.counts[what] += count

    async def crowd(self, size, act, *arguments):
        """`size` strangers who do the same, again whenever the server ends it."""

        async def one():
            while self.is_on():
                try:
                    await act(self, *arguments)
                except Closed:
                    self.tally("ended by server")
                await asyncio.sleep(0.01)

        await asyncio.gather(*(one() for _ in range(size)))

    async def pause(self, seconds):
        """Waits, but not beyond the end."""
        await asyncio.sleep(max(0, min(seconds, self.end - time.monotonic())))


async def main(attack, target):
    try:
        async with asyncio.timeout(target.seconds):
            await attack.attack(target)
    except TimeoutError:
        pass


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    chosen = Target(**json.load(sys.stdin))
    module = importlib.import_module(f"attacks.{sys.argv[1]}")
    asyncio.run(main(module, chosen))
    faults = getattr(module, "excess", lambda _: [])(chosen)
    if not chosen.counts[module.PROOF]:
        faults.append(f"the stranger got no {module.PROOF} done, so this proves nothing")
    print(json.dumps({"counts": chosen.counts, "faults": faults}))
