"""Messages of a ZeroMQ link in a stream of bytes, so that some can be sent twice."""

GREETING = 64
MORE, LONG, COMMAND = 1, 2, 4
# The first frame of a message with data between two daemons; the links' own messages (hello, beat) are others.
DATA = b"\x04"


class Repeater:
    """Follows the stream of one direction and repeats whole messages of it."""

    def __init__(self):
        self.buffer = bytearray()
        self.has_greeted = False
        # Where in the buffer the present message's frames end so far.
        self.end = 0
        self.first = None
        self.count = 0

    def feed(self, data, every):
        """The bytes to pass on, and how many messages were repeated in them. Passes only whole messages."""
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
            passed += message
            if self.first == DATA and every:
                self.count += 1
                if self.count % every == 0:
                    passed += message
                    repeated += 1
            self.first = None
        return bytes(passed), repeated

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
