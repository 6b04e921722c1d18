"""Messages of a ZeroMQ link in a stream of bytes, so that some can be sent twice, or as another release would."""

GREETING = 64
MORE, LONG, COMMAND = 1, 2, 4
# The first frame of a message with data between two daemons; the links' own messages (hello, beat) are others.
DATA = b"\x04"
# The same of a link's greeting.
HELLO = b"\x00"
# The kind of a preview's record.
PREVIEW = b"\x01"


class Repeater:
    """Follows the stream of one direction, and repeats or rewrites whole messages of it."""

    def __init__(self):
        self.buffer = bytearray()
        self.has_greeted = False
        # Where in the buffer the present message's frames end so far.
        self.end = 0
        self.first = None
        self.count = 0

    def feed(self, data, every, rewrite=None):
        """The bytes to pass on, and how many messages were repeated in them. Passes only whole messages.

        `rewrite` gets the kind of a message between two daemons and its last frame, and returns another frame.
        """
        self.buffer += data
        passed = bytearray()
        repeated = 0
        if not self.has_greeted:
            if len(self.buffer) < GREETING:
                # The greeting is a conversation: each side sends its first bytes before it has all of the other's.
                return self._greeting(), 0
            passed += self._greeting()
            self.has_greeted = True
            del self.buffer[:GREETING]
        while message := self._message():
            if rewrite and self.first in (DATA, HELLO):
                message = self._rewritten(message, rewrite)
            passed += message
            if self.first == DATA and every:
                self.count += 1
                if self.count % every == 0:
                    passed += self._rewritten(message, without_previews)
                    repeated += 1
            self.first = None
        return bytes(passed), repeated

    def _rewritten(self, message, rewrite):
        parts = []
        self.buffer[:0] = message
        at = 0
        while at < len(message):
            _, start, at = self._frame(at)
            parts.append(message[start:at])
        del self.buffer[: len(message)]
        parts[-1] = rewrite(self.first, parts[-1])
        return b"".join(frame(part, is_last=index == len(parts) - 1) for index, part in enumerate(parts))

    def _greeting(self):
        fresh = bytes(self.buffer[self.end : GREETING])
        self.end = min(len(self.buffer), GREETING)
        if self.end == GREETING:
            self.end = 0
        return fresh

    def _message(self):
        """The next whole message, taken out of the buffer; None while it is not whole."""
        while True:
            frame = self._frame(self.end)
            if frame is None:
                return None
            flags, start, end = frame
            if self.first is None:
                self.first = b"" if flags & COMMAND else bytes(self.buffer[start : min(end, start + 2)])
            self.end = end
            if not flags & MORE:
                message = bytes(self.buffer[:end])
                del self.buffer[:end]
                self.end = 0
                return message

    def _frame(self, at):
        """A frame's flags, and where its body starts and ends; None while it is not whole."""
        if len(self.buffer) < at + 2:
            return None
        flags = self.buffer[at]
        if flags & LONG:
            if len(self.buffer) < at + 9:
                return None
            start = at + 9
            size = int.from_bytes(self.buffer[at + 1 : start], "big")
        else:
            start = at + 2
            size = self.buffer[at + 1]
        return (flags, start, start + size) if len(self.buffer) >= start + size else None


def frame(body, is_last):
    """A frame of a message."""
    flags = 0 if is_last else MORE
    if len(body) < 256:
        return bytes([flags, len(body)]) + body
    return bytes([flags | LONG]) + len(body).to_bytes(8, "big") + body


def without_previews(_, body):
    """An envelope that may come twice. TCP repeats nothing, and previews rely on it: one that came again behind the update that
    ended it would be shown."""
    return envelope([record for record in records(body) if record[:1] != PREVIEW], body) if body[:2] == b"TS" else body


def with_more_fields(kind, body):
    """As a newer release would speak that can: its greeting names the next version, too, every record has a field more, and
    there is one of a new kind."""
    if kind == HELLO:
        return body[:12] + b"\x01" + body[13:]
    if kind != DATA or body[:2] != b"TS":
        return body
    longer = [
        record[:1] + (len(record) - 3).to_bytes(4, "little") + record[5:] + b"\x2a\x00" for record in records(body)
    ]
    return envelope([*longer, b"\xc8\x03\x00\x00\x00new"], body)


def records(body):
    """The records of an envelope, each with its kind and length."""
    at = 8
    for _ in range(int.from_bytes(body[4:8], "little")):
        end = at + 5 + int.from_bytes(body[at + 1 : at + 5], "little")
        yield body[at:end]
        at = end


def envelope(content, like):
    """An envelope with other records."""
    return like[:4] + len(content).to_bytes(4, "little") + b"".join(content)
