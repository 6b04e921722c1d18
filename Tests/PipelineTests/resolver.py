"""A name server whose answers tests decide."""

import contextlib
import socket
import struct
import threading

# Types of records.
A, AAAA, SRV = 1, 28, 33


class Resolver:
    """A name server with the given addresses, which fails on request."""

    ADDRESS = "127.0.0.77"

    def __init__(self, address=ADDRESS):
        # The records of each name, or its own mood.
        self.names = {}
        # "well", "servfail", "empty" or "silent".
        self.mood = "well"
        self.asked = 0
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, 53))
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        with contextlib.suppress(OSError):
            # Nothing is received at the end.
            while (received := self.socket.recvfrom(4096))[0]:
                question, client = received
                self.asked += 1
                if self.mood != "silent":
                    self.socket.sendto(self._answer(question), client)

    def _answer(self, query):
        """RFC 1035, section 4: header, the question as it came, an A or AAAA record (RFC 3596) for each address, or an SRV
        record (RFC 2782) for each pair of a host and a port."""
        end = 12
        labels = []
        while query[end]:
            labels.append(query[end + 1 : end + 1 + query[end]].decode())
            end += 1 + query[end]
        kind = struct.unpack(">H", query[end + 1 : end + 3])[0]
        found = self.names.get(".".join(labels), []) if self.mood == "well" else []
        mood, found = (found, []) if isinstance(found, str) else (self.mood, found)
        data = [self._data(one) for one in found if kind == self._kind(one)]
        code = {"servfail": 2, "empty": 3}.get(mood, 0)
        header = query[:2] + struct.pack(">HHHHH", 0x8180 | code, 1, len(data), 0, 0)
        records = b"".join(struct.pack(">HHHIH", 0xC00C, kind, 1, 0, len(one)) + one for one in data)
        return header + query[12 : end + 5] + records

    @staticmethod
    def _kind(record):
        if isinstance(record, tuple):
            return SRV
        return AAAA if ":" in record else A

    @staticmethod
    def _data(record):
        if not isinstance(record, tuple):
            return socket.inet_pton(socket.AF_INET6 if ":" in record else socket.AF_INET, record)
        host, port = record
        labels = b"".join(bytes([len(label)]) + label.encode() for label in host.split("."))
        return struct.pack(">HHH", 0, 0, port) + labels + b"\0"

    def close(self):
        # Wakes the thread, which would keep the address.
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()
