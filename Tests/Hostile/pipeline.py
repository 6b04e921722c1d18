"""The pipeline under attack: `touchsync up` in token mode, on an address that other machines reach."""

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
import urllib.request

import ports
from network import FIRST, first, rank

PROGRAMS = pathlib.Path(os.environ.get("TOUCHSYNC_PROGRAMS", "."))
SECRET = "a secret of at least thirty-two bytes, for tests"
PREFIX = "touchsync-hostile-"
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")


def remove_leftovers():
    """Removes the folders of runs that were killed; the kernel and `touchsync up` have ended everything else."""
    for folder in pathlib.Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        if not os.path.exists(f"/proc/{folder.name.removeprefix(PREFIX).split('-')[0]}"):
            shutil.rmtree(folder, ignore_errors=True)


class Pipeline:
    """Two gateways, and one of each other daemon."""

    # Ports on which daemons wait for each other.
    link_ports = ()

    def __init__(self, host, proxy):
        """On an address of this machine; `proxy` is the address of the proxy that it trusts."""
        self.host = host
        self.proxy = proxy
        self.port = ports.free(2, host)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        # The private cluster may run as another user, who must get through.
        self.folder.chmod(0o755)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("TOUCHSYNC_")}
        self.environment.pop("DATABASE_URL", None)
        self.environment["TOUCHSYNC_JWT_SECRET"] = SECRET
        self.process = None
        self.report = None

    def keys(self):
        """The flags of links that are guarded by keys: one key for all daemons, and nobody else's is listed."""
        key, peers = self.folder / "key", self.folder / "peers"
        if not key.exists():
            public = self._touchsync("keys", "new", str(key)).splitlines()[0]
            roles = ["gateway", "coalescer", "committer", "fanout"]
            peers.write_text("".join(f"{role} * {public}\n" for role in roles))
        return ["--link-key-file", str(key), "--peers-file", str(peers)]

    def start(self, within=90.0):
        command = [
            str(PROGRAMS / "touchsync"), "up", "--json", "--show-secrets", "--host", self.host, "--port", str(self.port), "--data",
            str(self.folder / "data"), "--gateways", "2", "--trusted-proxies", self.proxy, *self.keys(),
        ]
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL, env=self.environment,
                preexec_fn=first,
            )
        end = time.monotonic() + within
        text = b""
        while b"\n" not in text:
            readable, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            chunk = os.read(self.process.stdout.fileno(), 65536) if readable else b""
            if not chunk:
                raise RuntimeError(f"the pipeline did not start:\n{self.log()[-4000:]}")
            text += chunk
        self.report = json.loads(text)
        return self

    def put_first(self):
        """Ranks the daemons and PostgreSQL's processes before all else; those have sessions of their own."""
        servers = [int(path.read_text().splitlines()[0]) for path in self.folder.glob("data/**/postmaster.pid")]
        daemons = [pid for pid in self.pids.values() if pid]
        for pid in [*daemons, *servers, *(child for server in servers for child in children(server))]:
            with contextlib.suppress(ProcessLookupError):
                rank(pid, FIRST)

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(40)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self):
        """Everything that `touchsync up` wrote to standard error: restarts, with the last lines of the daemon."""
        return (self.folder / "log").read_text(errors="replace")

    def _touchsync(self, *arguments):
        done = subprocess.run(
            [str(PROGRAMS / "touchsync"), *arguments], capture_output=True, text=True, timeout=30,
            env=self.environment, check=True,
        )
        return done.stdout.strip()

    def token(self, user):
        """A token that opens every room for commits."""
        return self._touchsync("token", "--user", user, "--room", "*")

    def refresh(self):
        """Asks again what runs; returns the daemons' pids by name, None for one that is down."""
        self.report |= json.loads(self._touchsync("ps", "--json", "--show-secrets", "--data", str(self.folder / "data")))
        return self.pids

    @property
    def pids(self):
        """The daemons' pids by name, as they were last asked for."""
        return {process["name"]: process["pid"] for process in self.report["processes"]}

    def unready(self, within=10.0):
        """The daemons that do not say that they are ready, with their reasons."""
        end = time.monotonic() + within
        reasons = {process["name"]: process["http"] for process in self.report["processes"]}
        while reasons:
            for name, http in list(reasons.items()):
                reason = self._unready(http)
                if reason is None:
                    del reasons[name]
                elif time.monotonic() > end:
                    return [f"{name}: {reason}"]
            time.sleep(0.1)
        return []

    @staticmethod
    def _unready(http):
        """Why a daemon is not ready; None when it is."""
        if not http:
            return "it is down"
        try:
            http = http if http.startswith("http") else f"http://{http}"
            with urllib.request.urlopen(f"{http}/readyz", timeout=2) as answer:
                return None if answer.status == 200 else f"status {answer.status}"
        except (OSError, ValueError) as error:
            return str(error)


def children(pid):
    """The processes that a process started and that still run."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]
    return []


def resident(pid):
    """Resident bytes of a process, 0 when there is none."""
    try:
        with open(f"/proc/{pid}/statm") as statm:
            return int(statm.read().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def busy_seconds(pid):
    """Seconds of CPU that a process has used."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS
    except (OSError, IndexError):
        return 0.0
