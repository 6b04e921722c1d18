"""Ports that nobody uses."""

import contextlib
import random
import socket

# Below the range that the kernel hands out by itself. A port of that range may become the source of somebody's outgoing
# connection before it is bound, and who dials it until then may be connected with itself.
RANGE = (12000, 31000)
_given = set()


def free(count=1, host="127.0.0.1"):
    """The first of `count` neighbouring ports that are free now and were not given before."""
    for _ in range(500):
        first = random.SystemRandom().randrange(*RANGE)
        wanted = range(first, first + count)
        if _given.isdisjoint(wanted) and _all_free(wanted, host):
            _given.update(wanted)
            return first
    raise RuntimeError("no free ports")


def _all_free(ports, host):
    with contextlib.ExitStack() as stack:
        try:
            for port in ports:
                stack.enter_context(socket.socket()).bind((host, port))
        except OSError:
            return False
    return True
