"""What daemons report to the service manager that started them (sd_notify(3))."""

import contextlib
import ctypes
import os
import pathlib
import signal
import subprocess

import pytest
import requests

import ports
from manager import NotifySocket
from pipeline import PROGRAMS, eventually, running

# ptrace(2)
SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17


class Daemon:
    """A daemon that reports to a socket of the test."""

    def __init__(self, stage, name, notify, *flags, **environment):
        self.port = ports.free()
        self.process = subprocess.Popen(
            [str(PROGRAMS / f"touchsync-{stage}"), "--allow-root", "--admin-port", str(self.port), "--name", name, *flags],
            env={**os.environ, "NOTIFY_SOCKET": notify.address, "WATCHDOG_USEC": "20000000", **environment},
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def page(self, name):
        with contextlib.suppress(requests.ConnectionError):
            return requests.get(f"http://127.0.0.1:{self.port}/{name}", timeout=5)

    def is_ready(self):
        page = self.page("readyz")
        return page is not None and page.status_code == 200

    def thread(self, name):
        """The id of one of its threads."""
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            if (task / "comm").read_text().strip() == name:
                return int(task.name)
        raise AssertionError(f"no thread {name}")


@contextlib.contextmanager
def stopped_thread(thread):
    """One thread stands still, while the others of its process run."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    for request in (SEIZE, INTERRUPT):
        assert libc.ptrace(request, thread, None, None) == 0, os.strerror(ctypes.get_errno())
    os.waitpid(thread, 0x40000000)  # __WALL
    try:
        yield
    finally:
        libc.ptrace(DETACH, thread, None, None)


@pytest.fixture(scope="module")
def pipeline():
    with running() as pipeline:
        yield pipeline


@pytest.fixture(params=["path", "abstract"])
def notify(request, tmp_path):
    socket = NotifySocket(tmp_path / "notify" if request.param == "path" else f"\0touchsync-test-{os.getpid()}")
    yield socket
    socket.close()


@pytest.fixture
def fanout(pipeline, notify, request, tmp_path):
    """A fan-out whose database has no tables yet."""
    database = pipeline.own_database(f"notify_{abs(hash(request.node.name)) % 10**9}")
    daemon = Daemon("fanout", "fanout-9", notify, "--bind", f"ipc://{tmp_path}/fanout.sock", DATABASE_URL=database)
    daemon.migrate = lambda: pipeline.touchsync("migrate", "--database-url", database)
    yield daemon
    daemon.process.kill()
    daemon.process.wait()


def test_a_daemon_tells_its_manager_how_it_is(fanout, notify):
    # It runs, and says what it waits for.
    said = notify.listen(3)
    assert "READY=1" not in said and not fanout.is_ready()
    assert any(line.startswith("STATUS=Not ready: database: ") and "migrate" in line for line in said), said
    fanout.migrate()
    notify.wait_for("READY=1", 15)
    assert fanout.is_ready()

    # About once a second, while the loop turns.
    assert 2 <= notify.listen(4).count("WATCHDOG=1") <= 6

    # A reload ends nothing.
    fanout.process.send_signal(signal.SIGHUP)
    notify.wait_for("WATCHDOG=1", 5)

    fanout.process.send_signal(signal.SIGSTOP)
    notify.listen(0.5)
    assert notify.listen(3) == []
    fanout.process.send_signal(signal.SIGCONT)
    notify.wait_for("WATCHDOG=1", 5)

    fanout.process.send_signal(signal.SIGTERM)
    assert "READY=1" not in notify.wait_for("STOPPING=1", 5)
    assert fanout.process.wait(15) == 0


@pytest.mark.parametrize("notify", ["path"], indirect=True)
def test_the_watchdog_hears_nothing_while_the_loop_stands_still(fanout, notify):
    fanout.migrate()
    notify.wait_for("READY=1", 15)
    with stopped_thread(fanout.thread("fanout")):
        notify.listen(0.5)
        eventually("/healthz says so", lambda: fanout.page("healthz").status_code == 503, within=15)
        assert "WATCHDOG=1" not in notify.listen(0.1)
        heard = len([line for line in notify.heard if line == "WATCHDOG=1"])
    notify.wait_for("WATCHDOG=1", 5)
    assert heard < len([line for line in notify.heard if line == "WATCHDOG=1"])
