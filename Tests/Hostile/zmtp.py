"""What ZeroMQ's protocol looks like on a socket (ZMTP 3.1), and many ways to get it wrong."""

import os

MORE, LONG, COMMAND = 1, 2, 4


def greeting(mechanism):
    """Signature, version, mechanism, as-server and filler: 64 bytes."""
    return b"\xff" + bytes(8) + b"\x7f\x03\x01" + mechanism.ljust(20, b"\0") + bytes(32)


def frame(body, flags=0):
    """A frame of a message."""
    if len(body) < 256:
        return bytes([flags, len(body)]) + body
    return bytes([flags | LONG]) + len(body).to_bytes(8, "big") + body


def message(*frames):
    return b"".join(frame(body, MORE) for body in frames[:-1]) + frame(frames[-1])


READY = frame(b"\x05READY\x0bSocket-Type\0\0\0\x06DEALER", COMMAND)
# What a good peer sends before its first message.
HELLO = greeting(b"NULL") + READY

GARBAGE = [
    b"",
    b"GET / HTTP/1.1\r\n\r\n" * 100,
    os.urandom(65536),
    b"\xff" * 65536,
    greeting(b"PLAIN") + os.urandom(1000),
    greeting(b"CURVE") + os.urandom(1000),
    HELLO + os.urandom(65536),
    HELLO + bytes([LONG]) + (1 << 62).to_bytes(8, "big"),
    HELLO + bytes([LONG]) + (16 << 20).to_bytes(8, "big") + b"4" * 100_000,
    HELLO + frame(b"x", MORE) * 20_000,
    HELLO + frame(b"") * 5000,
    HELLO + frame(b"\x03SUB", COMMAND) * 5000,
    HELLO + message(*[os.urandom(40)] * 8) * 200,
]
