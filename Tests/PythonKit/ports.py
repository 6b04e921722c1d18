"""Ports that nobody uses, and that no other run of tests on this machine is given."""

import contextlib
import fcntl
import os
import pathlib
import random
import socket
import tempfile

# Below the range that the kernel hands out by itself. A port of that range may become the source of somebody's outgoing
# connection before it is bound, and who dials it until then may be connected with itself.
RANGE = (12000, 31000)
# Each port is one byte of it, locked by the process that was given the port until that process ends: between two lives of
# a daemon its port is free to look at.
_RESERVED = os.open(
    pathlib.Path(tempfile.gettempdir()) / f"touchsync-test-ports-{os.getuid()}", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
_given = set()


def free(count=1, host="127.0.0.1"):
    """The first of `count` neighbouring ports that are free now and were not given before."""
    for _ in range(500):
        first = random.SystemRandom().randrange(*RANGE)
        wanted = range(first, first + count)
        if _given.isdisjoint(wanted) and _all_free(wanted, host) and _reserve(first, count):
            _given.update(wanted)
            return first
    raise RuntimeError("no free ports")


def has_ipv6():
    """Whether this machine has the IPv6 address of loopback."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


def _all_free(ports, host):
    # Gateways on loopback listen on both of its addresses.
    places = [(socket.AF_INET, host)] + ([(socket.AF_INET6, "::1")] if host == "127.0.0.1" and has_ipv6() else [])
    with contextlib.ExitStack() as stack:
        try:
            for port in ports:
                for family, address in places:
                    stack.enter_context(socket.socket(family)).bind((address, port))
        except OSError:
            return False
    return True


def _reserve(first, count):
    try:
        fcntl.lockf(_RESERVED, fcntl.LOCK_EX | fcntl.LOCK_NB, count, first)
    except BlockingIOError:
        return False
    return True
