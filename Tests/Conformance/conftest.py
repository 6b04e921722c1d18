"""Conformance servers for the tests."""

import contextlib
import os
import subprocess

import pytest


class Server:
    """A running conformance server. Ends with the `with` that started it."""

    def __init__(self, *options):
        program = os.environ.get("CONFORMANCE_SERVER")
        if not program:
            pytest.exit("set CONFORMANCE_SERVER to the built server, or use run.sh", returncode=64)
        # An allocator that gives back what is free at once: what it keeps for later is not what the server holds.
        allocator = {
            "MALLOC_ARENA_MAX": "1", "MALLOC_TRIM_THRESHOLD_": "65536", "MALLOC_MMAP_THRESHOLD_": "65536",
        }
        self.process = subprocess.Popen(
            [program, "--host", "127.0.0.1", "--port", "0", *map(str, options)], stdout=subprocess.PIPE, text=True,
            env=os.environ | allocator)
        # "listening on port N" is all it ever says.
        self.port = int(self.process.stdout.readline().split()[-1])

    def resident(self):
        """The bytes of memory that it holds."""
        with open(f"/proc/{self.process.pid}/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def peak(self):
        """The most bytes of memory that it ever held."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))

    def sockets(self):
        """How many sockets it has open. Its other files are its loops' own, and some of them come a moment late."""
        folder = f"/proc/{self.process.pid}/fd"
        return sum(link.startswith("socket:") for link in map(self._target, os.scandir(folder)))

    @staticmethod
    def _target(entry):
        try:
            return os.readlink(entry.path)
        except FileNotFoundError:  # closed meanwhile
            return ""

    def close(self):
        """Ends it; a server that had ended by itself is a failure."""
        code = self.process.poll()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        assert code is None, f"the server ended by itself with {code}"


@pytest.fixture(scope="module")
def serve():
    """Starts servers with the options that it is called with."""
    with contextlib.ExitStack() as stack:

        def start(*options):
            server = Server(*options)
            stack.callback(server.close)
            return server

        yield start
