"""A whole pipeline as an operator would run it: `touchsync up`, driven and watched from outside."""

import contextlib
import json
import os
import pathlib
import select
import signal
import subprocess
import tempfile
import time

import psycopg
import requests

import operators
import ports

PROGRAMS = pathlib.Path(os.environ.get("TOUCHSYNC_PROGRAMS", "."))


class Overdue(AssertionError):
    """Something that had to happen did not happen in time."""


def eventually(what, condition, within=10.0, every=0.02):
    """Waits until `condition()` is true-ish and returns its value."""
    end = time.monotonic() + within
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Overdue(f"not within {within} s: {what}")
        time.sleep(every)


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Pipeline:
    """One running pipeline and its data folder."""

    def __init__(self, *settings, gateways=1, coalescers=1, committers=1, fanouts=1, environment=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="touchsync-test-"))
        # The private cluster may run as another user, who must get through.
        self.folder.chmod(0o755)
        self.data = self.folder / "data"
        self.counts = {"gateways": gateways, "coalescers": coalescers, "committers": committers, "fanouts": fanouts}
        self.port = ports.free(gateways)
        self.settings = [str(setting) for setting in settings]
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("TOUCHSYNC_")}
        self.environment.pop("DATABASE_URL", None)
        self.environment.update(environment or {})
        self.process = None
        self.report = None
        self.seen_pids = set()

    # Life

    def start(self, within=60.0):
        """Starts everything and waits until it says that it is ready."""
        command = [str(PROGRAMS / "touchsync"), "up", "--json", "--show-secrets", "--port", str(self.port), "--data", str(self.data)]
        for name, count in self.counts.items():
            command += [f"--{name}", str(count)]
        log = open(self.folder / "log", "ab")
        self.process = subprocess.Popen(
            command + self.settings, stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL,
            env=self.environment, start_new_session=True,
        )
        log.close()
        try:
            self.report = json.loads(self._first_line(within))
        except BaseException:
            self.stop()
            raise
        self._note(self.report)
        return self

    def _first_line(self, within):
        end = time.monotonic() + within
        text = b""
        descriptor = self.process.stdout.fileno()
        while b"\n" not in text:
            left = end - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise Overdue(f"the pipeline is not up after {within} s:\n{self.log()[-4000:]}")
            chunk = os.read(descriptor, 65536)
            if not chunk:
                raise AssertionError(f"touchsync up ended: {self.process.wait()}\n{self.log()[-4000:]}")
            text += chunk
        return text.split(b"\n", 1)[0]

    def stop(self, within=40.0):
        """Stops everything as Ctrl-C would; whatever is left then is killed."""
        if self.process is None:
            return 0
        with contextlib.suppress(Exception):
            self._note(self.ps())
        process, self.process = self.process, None
        process.send_signal(signal.SIGTERM)
        try:
            return process.wait(within)
        except subprocess.TimeoutExpired:
            return None
        finally:
            self._kill_rest(process)

    def _kill_rest(self, process):
        if process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdout.close()
        for pid in self.leftovers():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def leftovers(self):
        """Processes of this pipeline, and servers of its cluster, that are still there."""
        found = [pid for pid in self.seen_pids if is_alive(pid)]
        for path in self.data.glob("**/postmaster.pid"):
            with contextlib.suppress(OSError, ValueError, IndexError):
                pid = int(path.read_text().splitlines()[0])
                if is_alive(pid):
                    found.append(pid)
        return found

    def remove(self):
        """Stops everything and has the data folder removed: thousands of files of a server, which take the disk up to a
        minute. Nobody waits for that, and nothing of it stands in the tests' output. Children of a server that was killed
        may still write into it for a moment, hence a second try."""
        self.stop()
        subprocess.Popen(
            ["sh", "-c", 'rm -rf "$0" || { sleep 5; rm -rf "$0"; }', self.folder],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )

    def _note(self, report):
        self.seen_pids.update(process["pid"] for process in report["processes"] if process.get("pid"))

    # What it says

    def log(self):
        """Everything that it wrote to standard error."""
        return (self.folder / "log").read_text(errors="replace")

    def touchsync(self, *arguments, check=True, environment=None):
        """Runs the operator's command."""
        done = subprocess.run(
            [str(PROGRAMS / "touchsync"), *arguments], capture_output=True, text=True, timeout=30,
            env=environment or self.environment,
        )
        if check:
            assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        return done

    def ps(self):
        """What runs at present, as `touchsync ps --json` says."""
        return json.loads(self.touchsync("ps", "--json", "--show-secrets", "--data", str(self.data)).stdout)

    @property
    def urls(self):
        """Where apps connect."""
        return self.report["urls"]

    @property
    def url(self):
        return self.urls[0]

    def processes(self, stage):
        """The processes of a stage at present."""
        return [process for process in self.ps()["processes"] if process["stage"] == stage]

    @property
    def monitor(self):
        """Where operators look."""
        return self.processes("monitor")[0]["http"]

    @property
    def operator(self):
        """The field of a request by which an operator is known."""
        return operators.fields((self.data / "operator-token").read_text().strip())

    def admin(self, process, path):
        """The answer of a daemon's admin server to the operator."""
        return requests.get(process["http"] + path, headers=self.operator, timeout=5)

    def metrics(self, stage, index=0):
        """A daemon's metrics as {name with labels: value}."""
        text = self.admin(self.processes(stage)[index], "/metrics").text
        pairs = (line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
        return {name: float(value) for name, value in pairs}

    def token(self, user, rooms, right="commit", ttl=3600, **more):
        """A token from `touchsync token`."""
        arguments = ["token", "--user", user, "--right", right, "--ttl", str(ttl)]
        for room in rooms:
            arguments += ["--room", room]
        for name, value in more.items():
            arguments += [f"--{name}", value]
        return self.touchsync(*arguments).stdout.strip()

    # What is done to it

    def kill(self, stage, index=0, how=signal.SIGKILL):
        """Kills a daemon and returns what it was."""
        process = self.processes(stage)[index]
        os.kill(process["pid"], how)
        return process

    def wait_restarted(self, process, within=15.0):
        """Waits until a daemon that was killed is back under a new pid and ready."""

        def is_back():
            for now in self.ps()["processes"]:
                if now["name"] != process["name"] or now.get("pid") in (None, process["pid"]) or not now.get("http"):
                    continue
                with contextlib.suppress(requests.RequestException):
                    if requests.get(now["http"] + "/readyz", timeout=2).status_code == 200:
                        return now
            return None

        now = eventually(f"{process['name']} is back", is_back, within=within, every=0.1)
        self.seen_pids.add(now["pid"])
        return now

    # The database

    def rows(self, query, *parameters):
        """The rows of a query."""
        with psycopg.connect(self.report["database"], autocommit=True) as connection:
            return connection.execute(query, parameters).fetchall()

    def own_database(self, name):
        """Makes an empty database in the pipeline's server; returns its URL."""
        url = self.report["database"]
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"create database {name}")
        own = url.replace("/touchsync?", f"/{name}?")
        assert own != url
        return own

    def log_rows(self, room):
        """The commit log of a room, in order."""
        return self.rows(
            "select seq, event, user_id, session, n, element_id, before, after from commit_log"
            " where room_id = %s order by seq",
            room,
        )

    def assert_gapless(self, room):
        """The room's numbers are 1, 2, 3 … up to the room's own."""
        seqs = [row[0] for row in self.log_rows(room)]
        assert seqs == list(range(1, len(seqs) + 1)), seqs
        heads = self.rows("select seq from rooms where room_id = %s", room)
        assert heads == ([(len(seqs),)] if seqs else heads)
        return len(seqs)

    def assert_shards_gapless(self):
        """The same for every shard."""
        rows = self.rows("select shard, count(*), min(gseq), max(gseq) from commit_log group by shard")
        for shard, count, first, last in rows:
            assert (first, last) == (1, count), (shard, count, first, last)


@contextlib.contextmanager
def running(*settings, **more):
    """A pipeline for the length of a block; its log is shown when the block fails."""
    pipeline = Pipeline(*settings, **more)
    try:
        yield pipeline.start()
    except BaseException:
        with contextlib.suppress(OSError):
            print(f"--- the pipeline's log ends with\n{pipeline.log()[-6000:]}")
        raise
    finally:
        pipeline.remove()
