"""What lies between a device and the server: a relay of TCP connections that is slow, or goes dead without a word."""

import contextlib
import socket
import threading
import time
import urllib.parse

CHUNK = 4096


class Network:
    """A network with one server in it."""

    def __init__(self, url):
        address = urllib.parse.urlsplit(url)
        self.server = (address.hostname, address.port)
        # The address that the device has for the server.
        self.device = "127.0.0.1"
        # Bytes that arrive in a second, for each connection and direction; None for all at once.
        self.bytes_per_second = None
        self.connections = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                try:
                    self.connections.append(Connection(self, near))
                except OSError:
                    # The port that the system chose is still in use with the server; clients try again.
                    near.close()

    def vanish(self):
        """All connections go dead: they stay open at both ends, and nothing comes through any more."""
        for connection in self.connections:
            connection.is_dead = True

    def close(self):
        self.listener.close()
        for connection in self.connections:
            connection.close()


class Connection:
    """One connection through the network."""

    def __init__(self, network, near):
        self.network = network
        self.is_dead = False
        self.near = near
        self.far = socket.create_connection(network.server, source_address=(network.device, 0))
        for source, target in ((self.near, self.far), (self.far, self.near)):
            threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    def _carry(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(CHUNK):
                if rate := self.network.bytes_per_second:
                    time.sleep(len(data) / rate)
                if not self.is_dead:
                    target.sendall(data)
        # A dead one tells nobody of its end.
        if not self.is_dead:
            self.close()

    def close(self):
        for end in (self.near, self.far):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def network(url):
    """A network for the length of a block."""
    between = Network(url)
    try:
        yield between
    finally:
        between.close()
