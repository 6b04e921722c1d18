"""A pipeline whose daemons are linked by TCP, as on several machines; the database is another pipeline's."""

import json
import os
import select
import signal
import subprocess
import time

import ports
from network import first
from pipeline import PROGRAMS, Pipeline

# Each after those that it connects to.
NEIGHBOURS = {
    "fanout": [],
    "committer": ["fanout"],
    "coalescer": ["fanout"],
    "gateway": ["coalescer", "committer", "fanout"],
}


class Here:
    """This machine: a program on it reaches the loopback address."""

    @staticmethod
    def run(*command, prepare, **more):
        return subprocess.Popen(command, preexec_fn=prepare, **more)


class LinkedPipeline(Pipeline):
    """One of each daemon, started one by one."""

    def __init__(self, host, base, is_guarded):
        super().__init__(host, base.proxy)
        self.base = base
        self.is_guarded = is_guarded
        first_port = ports.free(3)
        self.ports = {stage: first_port + index for index, stage in enumerate(["fanout", "committer", "coalescer"])}
        self.daemons = {}

    @property
    def link_ports(self):
        return list(self.ports.values())

    def start(self, within=60.0):
        self.environment["TOUCHSYNC_ALLOW_ROOT"] = "true"
        self.environment["DATABASE_URL"] = self.base.report["database"].replace("/touchsync?", "/linked?")
        self._touchsync("migrate")
        processes = [self._start(stage, time.monotonic() + within) for stage in NEIGHBOURS]
        self.report = {"processes": processes}
        return self

    def _start(self, stage, end):
        """Starts a daemon and waits until it is ready; what `touchsync up` would say of it."""
        name = f"{stage}-1"
        flags = ["--name", name, *(self.keys() if self.is_guarded else [])]
        for other in NEIGHBOURS[stage]:
            flags += [f"--{other}s", f"{other}-1=tcp://127.0.0.1:{self.ports[other]}"]
        if stage == "gateway":
            flags += ["--host", self.host, "--port", str(self.port)]
        else:
            flags += ["--bind", f"tcp://127.0.0.1:{self.ports[stage]}"]
        ready, ready_end = os.pipe()
        with open(self.folder / f"{name}.log", "ab") as log:
            self.daemons[name] = subprocess.Popen(
                [str(PROGRAMS / f"touchsync-{stage}"), *flags, f"--ready-fd={ready_end}"], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, env=self.environment, pass_fds=[ready_end], preexec_fn=first,
            )
        os.close(ready_end)
        with open(ready, "rb", buffering=0) as pipe:
            readable, _, _ = select.select([pipe], [], [], max(0, end - time.monotonic()))
            line = pipe.readline() if readable else b""
        if not line:
            raise RuntimeError(f"{name} did not start:\n{(self.folder / f'{name}.log').read_text()[-2000:]}")
        return {"stage": stage, "name": name, "pid": self.daemons[name].pid, "http": json.loads(line)["http"]}

    def refresh(self):
        for process in self.report["processes"]:
            if self.daemons[process["name"]].poll() is not None:
                process |= {"pid": None, "http": None}
        return self.pids

    def stop(self):
        for daemon in reversed(self.daemons.values()):
            daemon.send_signal(signal.SIGTERM)
        for daemon in self.daemons.values():
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        super().stop()
