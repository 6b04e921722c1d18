"""A pipeline whose daemons are linked by TCP and guarded by keys, as on several machines."""

import contextlib
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

import requests

import operators
import ports
from pipeline import PROGRAMS, Overdue, eventually

# Each after those that it connects to.
STAGES = ["fanout", "committer", "coalescer", "gateway"]
BEHIND = {
    "fanout": [], "committer": ["fanout"], "coalescer": ["fanout"],
    "gateway": ["coalescer", "committer", "fanout"],
}


class Keys:
    """A folder of key pairs, and the peers file."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.lines = {}
        self.peers = self.folder / "peers"

    def make(self, role, name, listed=True):
        """A new key pair; its line joins the peers file with the next `write`."""
        path = self.folder / f"{role}-{name.replace('*', 'any')}.key"
        printed = subprocess.run(
            [PROGRAMS / "touchsync", "keys", "new", str(path), "--role", role, "--name", name],
            capture_output=True, text=True, timeout=30, check=True,
        ).stdout.splitlines()
        if listed:
            self.lines[role, name] = printed[1]
        return path

    def write(self, without=()):
        """Replaces the peers file."""
        draft = self.folder / "peers.new"
        draft.write_text("# peers\n" + "".join(f"{line}\n" for key, line in self.lines.items() if key not in without))
        draft.rename(self.peers)

    @staticmethod
    def read(path):
        """The public and the secret key of a file, as Z85."""
        words = (line.split() for line in pathlib.Path(path).read_text().splitlines() if line[:1] not in ("", "#"))
        found = dict(words)
        return found["public"], found["secret"]


class Here:
    """This machine."""

    address = "127.0.0.1"

    @staticmethod
    def run(*command, **more):
        return subprocess.Popen(command, **more)


class LinkedPipeline:
    """One of each daemon, or several gateways, started one by one; the database is another pipeline's."""

    def __init__(self, database, gateways=1, hosts=None, settings=()):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="touchsync-links-"))
        self.keys = Keys(self.folder)
        self.database = database
        self.hosts = hosts or {}
        self.settings = [str(setting) for setting in settings]
        self.names = {stage: [f"{stage}-1"] for stage in STAGES}
        self.names["gateway"] = [f"gateway-{number + 1}" for number in range(gateways)]
        self.ports = {}
        for stage in STAGES:
            for name in self.names[stage]:
                self.ports[name] = ports.free()
        self.daemons = {}
        self.http = {}

    def host(self, stage):
        return self.hosts.get(stage, Here)

    def address(self, name):
        return f"{self.host(name.split('-')[0]).address}:{self.ports[name]}"

    @property
    def urls(self):
        return [f"http://{self.address(name)}" for name in self.names["gateway"]]

    def start(self):
        environment = {**os.environ, "DATABASE_URL": self.database}
        subprocess.run([PROGRAMS / "touchsync", "migrate"], env=environment, check=True, capture_output=True, timeout=60)
        for stage in STAGES:
            for name in self.names[stage]:
                self.keys.make(stage, name)
        self.keys.write()
        for stage in STAGES:
            for name in self.names[stage]:
                self.launch(stage, name)
        eventually("all are ready", lambda: all(self.is_ready(name) for name in self.daemons), within=30)
        return self

    def flags(self, stage, name):
        flags = [
            "--name", name, "--link-key-file", str(self.keys.folder / f"{stage}-{name}.key"), "--peers-file",
            str(self.keys.peers),
        ]
        for other in BEHIND[stage]:
            flags += [f"--{other}s", ",".join(f"{peer}=tcp://{self.address(peer)}" for peer in self.names[other])]
        if stage == "gateway":
            flags += ["--host", self.host(stage).address, "--port", str(self.ports[name]), "--open"]
            flags += ["--origins", "*"]
            flags += self.settings
        else:
            flags += ["--bind", f"tcp://{self.address(name)}"]
        # An admin server that this machine reaches, wherever the daemon runs.
        return [*flags, "--admin-host", self.host(stage).address]

    def launch(self, stage, name, within=30.0):
        """Starts a daemon and waits for its line; it need not be ready."""
        ready, ready_end = os.pipe()
        with open(self.folder / f"{name}.log", "ab") as log:
            self.daemons[name] = self.host(stage).run(
                str(PROGRAMS / f"touchsync-{stage}"), *self.flags(stage, name), "--ready-fd", str(ready_end),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[ready_end], start_new_session=True,
                env={**os.environ, "DATABASE_URL": self.database, "TOUCHSYNC_ALLOW_ROOT": "true", **operators.ENVIRONMENT},
            )
        os.close(ready_end)
        with open(ready, "rb", buffering=0) as pipe:
            line = pipe.readline() if select.select([pipe], [], [], within)[0] else b""
        if not line:
            raise Overdue(f"{name} did not start:\n{self.log(name)[-3000:]}")
        self.http[name] = json.loads(line)["http"]

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def stop_one(self, name, how=signal.SIGTERM):
        daemon = self.daemons.pop(name)
        daemon.send_signal(how)
        daemon.wait(20)

    def is_ready(self, name):
        with contextlib.suppress(requests.RequestException):
            return requests.get(self.http[name] + "/readyz", timeout=2).status_code == 200
        return False

    def notes(self, name):
        return requests.get(self.http[name] + "/readyz", timeout=5).text

    def metrics(self, name):
        return requests.get(self.http[name] + "/metrics", headers=operators.fields(), timeout=5).text

    def metric(self, name, metric):
        """A value of a daemon's metrics; its name as it stands there behind `touchsync_`, with labels."""
        text = self.metrics(name)
        values = dict(line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
        return float(values[f"touchsync_{metric}"])

    def counts(self, name, metric, above=0):
        eventually(f"{name} counts {metric}", lambda: self.metric(name, metric) > above, within=15)

    def stop(self):
        for daemon in reversed(self.daemons.values()):
            daemon.send_signal(signal.SIGTERM)
        end = time.monotonic() + 20
        for daemon in self.daemons.values():
            try:
                daemon.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def live(pipeline):
    """A pipeline for the length of a block; its logs are shown when the block fails."""
    try:
        yield pipeline.start()
    except BaseException:
        for path in sorted(pipeline.folder.glob("*.log")):
            print(f"--- {path.name} ends with\n{path.read_text(errors='replace')[-3000:]}")
        raise
    finally:
        pipeline.stop()


def linked(database, **more):
    return live(LinkedPipeline(database, **more))
