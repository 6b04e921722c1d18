"""The server that the protocol suites are run against, as a process: Socket.IO with everything, no pipeline behind."""

import select
import signal
import subprocess

import ports
from pipeline import PROGRAMS

PROGRAM = PROGRAMS / "socketio-conformance-server"
# Options for tests that are about neither pings nor deadlines.
QUIET = ("--ping-interval", 25_000, "--ping-timeout", 20_000, "--connect-timeout", 20_000)


class ConformanceServer:
    """One process of it on a port of its own; `Tests/ConformanceServer` says what it answers."""

    def __init__(self, *options, port=None):
        self.port = port or ports.free()
        self.options = [str(option) for option in options]
        self.process = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        """Starts it and waits until it listens."""
        self.process = subprocess.Popen(
            [str(PROGRAM), "--host", "127.0.0.1", "--port", str(self.port), *self.options], stdout=subprocess.PIPE
        )
        assert select.select([self.process.stdout], [], [], 20)[0], "the conformance server does not listen"
        line = self.process.stdout.readline()
        assert line.startswith(b"listening"), line
        return self

    def kill(self):
        """Ends it as a crash would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()
        self.process = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process is not None:
            self.kill()
