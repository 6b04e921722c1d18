"""A Debian machine of the tests: the real systemd in a container, on a copy of its files that is forgotten."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


class Machine:
    """Boots on entry, halts at the end. `base` is the kind of files that it begins with, see base.sh; `network` is the
    namespace of its network, which outlives it, or its own loopback; `mounts` are folders of this machine that it has
    under other names."""

    def __init__(self, base="", network=None, mounts=None):
        self.base = [base] if base else []
        self.network = f"--network-namespace-path={network}" if network else "--private-network"
        self.mounts = [f"--bind={folder}:{name}" for name, folder in (mounts or {}).items()]
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="touchsync-machine-"))
        self.root = self.folder / "root"
        self.stack = contextlib.ExitStack()
        self.nspawn = None

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self._lay_out(stack)
            stack.callback(self._halt)
            self.boot()
            self.stack = stack.pop_all()
        return self

    def _lay_out(self, stack):
        """Its files: the base, and over it what is forgotten."""
        base = subprocess.run([HERE / "base.sh", *self.base], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        layers = [self.folder / name for name in ("root", "upper", "work")]
        # In memory, because an overlay does not lie well on another one.
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", self.folder], check=True)
        stack.callback(subprocess.run, ["umount", self.folder])
        for layer in layers:
            layer.mkdir()
        subprocess.run(
            ["mount", "-t", "overlay", "overlay", "-o", f"lowerdir={base},upperdir={layers[1]},workdir={layers[2]}",
             self.root], check=True)
        stack.callback(subprocess.run, ["umount", self.root])
        self.console = open(self.folder / "console", "w+b")
        stack.callback(self.console.close)

    def boot(self):
        """Starts it, and waits until it has started what it is to start."""
        self.nspawn = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", self.network, *self.mounts, "--console=pipe",
             "--directory", self.root, "--boot"],
            stdin=subprocess.DEVNULL, stdout=self.console, stderr=self.console)
        self._wait_until_booted()

    def __exit__(self, *failure):
        self.stack.close()

    def _wait_until_booted(self, within=60):
        end = time.monotonic() + within
        while True:
            children = pathlib.Path(f"/proc/{self.nspawn.pid}/task/{self.nspawn.pid}/children").read_text().split()
            if children:
                self.leader = children[0]
                state = self.run("systemctl is-system-running", check=False).stdout.strip()
                if state in ("running", "degraded"):
                    return
            if time.monotonic() > end or self.nspawn.poll() is not None:
                self.console.seek(0)
                raise AssertionError(f"systemd does not boot:\n{self.console.read().decode(errors='replace')[-3000:]}")
            time.sleep(0.2)

    def power_off(self):
        """Ends it as a lost supply does: nothing in it gets to say anything more. It may boot again, with its files."""
        os.kill(int(self.leader), signal.SIGKILL)
        self.nspawn.wait(30)

    def _halt(self):
        if self.nspawn is None or self.nspawn.poll() is not None:
            return
        self.nspawn.send_signal(signal.SIGTERM)
        try:
            self.nspawn.wait(30)
        except subprocess.TimeoutExpired:
            self.nspawn.kill()
            self.nspawn.wait()

    def run(self, command, check=True, within=120):
        """Runs a line of bash in the machine, as root in its home."""
        done = subprocess.run(
            ["nsenter", "--target", self.leader, "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--",
             "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive",
             "bash", "-c", f"cd; {command}"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=within)
        if check:
            assert done.returncode == 0, (command, done.stdout[-3000:], done.stderr[-3000:])
        return done

    def says(self, command):
        """What a line of bash prints."""
        return self.run(command).stdout.strip()

    def put(self, path, name):
        """Copies a file into the home of root."""
        shutil.copy(path, self.root / "root" / name)

    def property(self, unit, name):
        """A property of a unit, as `systemctl show` says."""
        return self.says(f"systemctl show --value --property={name} {unit}")

    def operator_token(self):
        """What its daemons ask operators for."""
        return (self.root / "etc/touchsync/operator.env").read_text().strip().removeprefix("TOUCHSYNC_OPERATOR_TOKEN=")

    def metrics(self, port):
        """The metrics of a daemon, to its operator."""
        return self.answer(f"http://127.0.0.1:{port}/metrics", token=self.operator_token())[1]

    def answer(self, url, data=None, token=""):
        """Status and body of an HTTP request that is made in the machine."""
        code = (
            "import json, sys, urllib.request, urllib.error\n"
            "request = urllib.request.Request(sys.argv[1], sys.argv[2].encode() if sys.argv[2] else None,"
            " {'Content-Type': 'application/json'})\n"
            "if sys.argv[3]: request.add_header('Authorization', 'Bearer ' + sys.argv[3])\n"
            "try: answer = urllib.request.urlopen(request, timeout=10)\n"
            "except urllib.error.HTTPError as error: answer = error\n"
            "print(json.dumps([answer.status, answer.read().decode()]))\n"
        )
        # By the test's own Python, in the machine's network.
        done = subprocess.run(
            ["nsenter", "--target", self.leader, "--net", "--", "python3", "-c", code, url, json.dumps(data) if data else "",
             token],
            capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, (url, done.stderr[-1000:])
        return json.loads(done.stdout)
