"""One daemon as a process, and the supervisor that brings it back."""

import asyncio
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import time

PROGRAMS = pathlib.Path(os.environ.get("TOUCHSYNC_PROGRAMS", "."))
STAGES = ["gateway", "coalescer", "committer", "fanout"]
# How much is looked through of the log of one that fell over, and how much of it is shown.
LONGEST_LOG = 1 << 20
LONGEST_WORDS = 2000


class Daemon:
    """A daemon that is kept running: it is started again at once when it ends, as a supervisor would do."""

    def __init__(self, stage, name, folder, flags, environment, prefix=()):
        self.stage = stage
        self.name = name
        self.flags = flags
        self.environment = environment
        # What stands before the command, to limit or mislead the process.
        self.prefix = list(prefix)
        # The folder of the program that it is started from the next time.
        self.programs = PROGRAMS
        self.log = folder / f"{name}.log"
        self.process = None
        self.http = None
        self.is_ready = False
        self.is_wanted = False
        # Cleared while its machine is off.
        self.has_power = asyncio.Event()
        self.has_power.set()
        self.starts = 0
        self.expected = False
        self.codes = []
        # What to say of each end that nobody asked for.
        self.crashes = []
        self.keeper = None

    def start(self):
        self.is_wanted = True
        self.keeper = asyncio.get_running_loop().create_task(self._keep())

    async def _keep(self):
        pause = 0.0
        while self.is_wanted:
            began = time.monotonic()
            await self._run_once()
            pause = 0.0 if time.monotonic() - began > 5 else min(max(0.1, pause * 2), 1.0)
            await asyncio.sleep(pause)
            await self.has_power.wait()

    async def _run_once(self):
        loop = asyncio.get_running_loop()
        ready, ready_end = os.pipe()
        with open(self.log, "ab") as log:
            process = subprocess.Popen(
                [*self.prefix, str(self.programs / f"touchsync-{self.stage}"), *self.flags, f"--ready-fd={ready_end}",
                 f"--parent-fd={parent_end()}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment,
                pass_fds=[ready_end, parent_end()], start_new_session=True,
            )
        os.close(ready_end)
        self.process, self.http, self.is_ready, self.expected = process, None, False, False
        self.starts += 1
        text = bytearray()
        os.set_blocking(ready, False)

        def readable():
            try:
                chunk = os.read(ready, 4096)
            except BlockingIOError:
                return
            text.extend(chunk)
            if b"\n" in text:
                self.http = json.loads(bytes(text).split(b"\n", 1)[0])["http"]
                self.is_ready = True
            if not chunk or b"\n" in text:
                loop.remove_reader(ready)

        loop.add_reader(ready, readable)
        try:
            code = await ended(process)
        finally:
            loop.remove_reader(ready)
            os.close(ready)
        self.is_ready = False
        self.codes.append(code)
        if not self.expected and self.is_wanted:
            self.crashes.append(f"{self.name} ended by itself with {code}: {self._last_words()}")

    def _last_words(self):
        """The line in which a program that fell over said where and why, otherwise the end of what it wrote."""
        text = self.log.read_bytes()[-LONGEST_LOG:].decode(errors="replace")
        reasons = re.findall(r"^.*\.swift:\d+: .*$", text, re.MULTILINE)
        return reasons[-1] if reasons else text[-LONGEST_WORDS:]

    @property
    def pid(self):
        return self.process.pid if self.process and self.process.poll() is None else None

    def send(self, how):
        """A signal to the process; false when there is none."""
        if self.pid is None:
            return False
        self.expected = self.expected or how in (signal.SIGKILL, signal.SIGTERM)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, how)
            return True
        return False

    async def stop(self, within=15):
        """Ends it for good, in order; what is left then is killed."""
        self.is_wanted = False
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        if self.keeper:
            await asyncio.wait([self.keeper], timeout=within)
            self.send(signal.SIGKILL)
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([self.keeper], timeout=2)
                self.keeper.cancel()

    def resources(self):
        """Resident bytes and open descriptors; None while it does not run."""
        if self.pid is None:
            return None
        try:
            with open(f"/proc/{self.pid}/statm") as statm:
                resident = int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            return resident, len(os.listdir(f"/proc/{self.pid}/fd"))
        except (OSError, IndexError):
            return None

    def tail(self, length=2500):
        with contextlib.suppress(OSError):
            return self.log.read_text(errors="replace")[-length:]
        return ""


async def ended(process):
    """The exit code, once the process has ended; no thread waits for it."""
    if process.poll() is not None:
        return process.returncode
    await over(os.pidfd_open(process.pid))
    return process.wait()


async def over(handle):
    """Waits for the end of the process behind a handle, and closes the handle."""
    loop = asyncio.get_running_loop()
    end = loop.create_future()
    loop.add_reader(handle, lambda: end.done() or end.set_result(None))
    try:
        await end
    finally:
        loop.remove_reader(handle)
        os.close(handle)


_parent = []


def parent_end():
    """The read end of a pipe whose other end only we hold: daemons end when we do, however that happens."""
    if not _parent:
        _parent.extend(os.pipe())
    return _parent[0]
