"""A client library in a process of its own, spoken to in lines of JSON as Tests/Client/commands.mjs describes them."""

import asyncio
import contextlib
import os
import pathlib
import signal

import orjson

from daemons import PROGRAMS

TESTS = pathlib.Path(__file__).resolve().parent.parent
# The kinds of clients: the command that the client's options are appended to.
COMMANDS = {"swift": [str(PROGRAMS / "client-driver")], "web": ["node", str(TESTS / "Client" / "driver.mjs")]}
# It must not outlive us, however we end, not even when it is stopped.
GUARD = ["setpriv", "--pdeathsig", "KILL", "--"]
# A line may hold a whole room.
LONGEST_LINE = 1 << 24


class ClientProcess:
    """One process from its start to its end. Answers and events reach `told(report)` in the order in which it wrote
    them; the last one is None."""

    def __init__(self, told):
        self.told = told
        self.process = None
        self.calls = 0
        self.reading = None

    async def start(self, kind, options, log):
        # Where Debian's packages of libraries for Node lie; other builds of it do not look there.
        environment = {**os.environ, "NODE_PATH": "/usr/share/nodejs"}
        with open(log, "ab") as errors:
            self.process = await asyncio.create_subprocess_exec(
                *GUARD, *COMMANDS[kind], orjson.dumps(options).decode(), stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE, stderr=errors, env=environment, limit=LONGEST_LINE,
            )
        self.reading = asyncio.get_running_loop().create_task(self._read())

    async def _read(self):
        # Half a line is what was under way when it was killed.
        while (line := await self.process.stdout.readline()).endswith(b"\n"):
            self.told(orjson.loads(line))
        await self.process.wait()
        self.told(None)

    @property
    def code(self):
        """How it ended; None while it runs."""
        return self.process.returncode

    def call(self, method, *arguments):
        """Calls a method of the driver; returns the number that its answer will have."""
        self.calls += 1
        # Killed, its pipe is often gone before its code is known.
        if self.code is None and not self.process.stdin.is_closing():
            line = orjson.dumps({"call": self.calls, "method": method, "arguments": arguments})
            self.process.stdin.write(line + b"\n")
        return self.calls

    def send(self, how):
        """A signal to the process."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(how)

    async def kill(self):
        """Without a word; everything that it said before has been told when this returns."""
        self.send(signal.SIGKILL)
        await self.reading

    async def stop(self, within=5):
        """In order; killed when it does not end."""
        self.send(signal.SIGCONT)
        self.process.stdin.close()
        await asyncio.wait([self.reading], timeout=within)
        await self.kill()
