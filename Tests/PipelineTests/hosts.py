"""Several hosts on one machine: network namespaces on one switch, whose links can be cut.

Everything lives as long as the processes that hold the namespaces, and these end with ours, however we end.
"""

import contextlib
import importlib.util
import os
import pathlib
import subprocess
import time

# The strangers' machines of the hostile tests are made in the same way; their folder has a pipeline module of its own.
_spec = importlib.util.spec_from_file_location(
    "hostile_network", pathlib.Path(__file__).parent.parent / "Hostile" / "network.py"
)
network = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(network)
ip = network.ip


class Namespace:
    """A network namespace, held by a process that sleeps."""

    def __init__(self):
        self.holder = subprocess.Popen(
            ["unshare", "--net", "sleep", "infinity"], preexec_fn=network.end_with_parent, stderr=subprocess.DEVNULL
        )
        ours = os.stat("/proc/self/ns/net").st_ino
        end = time.monotonic() + 5
        while os.stat(f"/proc/{self.holder.pid}/ns/net").st_ino == ours:
            if self.holder.poll() is not None or time.monotonic() > end:
                raise network.Impossible("no network namespace: be root")
            time.sleep(0.01)
        self.ip("link", "set", "lo", "up")

    @property
    def pid(self):
        return str(self.holder.pid)

    def ip(self, *arguments):
        return ip(*arguments, inside=self.pid)

    def close(self):
        self.holder.kill()
        self.holder.wait()


class Host(Namespace):
    """A host on a switch."""

    def __init__(self, switch, number):
        super().__init__()
        self.switch = switch
        self.address = f"{switch.net}.{10 + number}"
        self.port = f"port{number}"
        switch.ip("link", "add", self.port, "type", "veth", "peer", "name", "eth0", "netns", self.pid)
        switch.attach(self.port)
        self.ip("addr", "add", f"{self.address}/24", "dev", "eth0")
        self.ip("link", "set", "eth0", "up")

    def run(self, *command, **more):
        """Starts a program on this host."""
        return subprocess.Popen(["nsenter", f"--net=/proc/{self.pid}/ns/net", *command], **more)

    def cut(self):
        """Pulls the cable: nothing comes, nothing goes, and nobody is told."""
        self.switch.ip("link", "set", self.port, "nomaster")

    def restore(self):
        self.switch.ip("link", "set", self.port, "master", "switch")


class Switch(Namespace):
    """A switch that this machine and hosts are on."""

    def __init__(self):
        super().__init__()
        used = ip("-o", "-4", "addr", "show")
        numbers = ((os.getpid() + step) % 256 for step in range(256))
        # The range that is reserved for such tests (RFC 2544).
        self.net = next(f"198.19.{number}" for number in numbers if f" 198.19.{number}." not in used)
        self.ip("link", "add", "switch", "type", "bridge")
        self.ip("link", "set", "switch", "up")
        self.interface = f"tsp{os.getpid() % 1000000}"
        ip("link", "add", self.interface, "type", "veth", "peer", "name", "uplink", "netns", self.pid)
        self.attach("uplink")
        ip("addr", "add", f"{self.net}.1/24", "dev", self.interface)
        ip("link", "set", self.interface, "up")

    def attach(self, port):
        self.ip("link", "set", port, "master", "switch")
        self.ip("link", "set", port, "up")

    def close(self):
        # Before the namespace, with which it would go a moment later: its name is used again.
        with contextlib.suppress(network.Impossible):
            ip("link", "del", self.interface)
        super().close()


@contextlib.contextmanager
def hosts(count):
    """Hosts on one switch, for the length of a block."""
    with contextlib.ExitStack() as stack:
        switch = stack.enter_context(contextlib.closing(Switch()))
        yield [stack.enter_context(contextlib.closing(Host(switch, number))) for number in range(count)]
