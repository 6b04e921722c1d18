"""Machines of their own around the pipeline: network namespaces, each joined to this one by a pair of interfaces.

A namespace lives as long as the process that holds it, and that process ends with ours, however we end. With the
namespace the kernel removes both of its interfaces: nothing is left to clean up, not even after SIGKILL.
"""

import contextlib
import ctypes
import itertools
import os
import signal
import subprocess
import time

LIBC = ctypes.CDLL(None, use_errno=True)
SET_PARENT_DEATH_SIGNAL = 1


class Impossible(Exception):
    """This machine cannot make network namespaces."""


# The pipeline and its victim go before strangers and whatever else the machine does: this is about what strangers make
# the daemons do, not about who gets the processor.
FIRST = -10


def end_with_parent():
    """In a child before it runs its program: the kernel kills it when we end, and its session is its own."""
    os.setsid()
    LIBC.prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def rank(pid, niceness):
    """Gives a process its place among all; Linux weighs sessions first (sched(7), autogroups), then their processes."""
    os.setpriority(os.PRIO_PROCESS, pid, niceness)
    with contextlib.suppress(FileNotFoundError), open(f"/proc/{pid or 'self'}/autogroup", "w") as group:
        group.write(str(niceness))


def first():
    """The same, for a program of the pipeline or the victim."""
    end_with_parent()
    rank(0, FIRST)


def ip(*arguments, inside=None):
    """Runs `ip`, in the namespace of a process if one is given."""
    prefix = ["nsenter", f"--net=/proc/{inside}/ns/net"] if inside else []
    try:
        done = subprocess.run([*prefix, "ip", *arguments], capture_output=True, text=True, timeout=20)
    except FileNotFoundError as error:
        raise Impossible(f"{error.filename} is missing (Debian: iproute2, util-linux)") from None
    if done.returncode != 0:
        raise Impossible(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


class Machine:
    """A network namespace that reaches the pipeline's addresses and nothing else."""

    def __init__(self, net, number):
        """`net` is the first three numbers of the addresses, `number` the machine's, from 0 to 62."""
        self.here = f"{net}.{4 * number + 1}"
        self.address = f"{net}.{4 * number + 2}"
        self.interface = f"tsh{os.getpid() % 1000000}x{number}"
        try:
            self.holder = subprocess.Popen(
                ["unshare", "--net", "sleep", "infinity"], stderr=subprocess.PIPE, preexec_fn=end_with_parent,
            )
        except FileNotFoundError:
            raise Impossible("unshare is missing (Debian: util-linux)") from None
        try:
            self._wait_for_namespace()
            ip("link", "add", self.interface, "type", "veth", "peer", "name", "eth0", "netns", str(self.holder.pid))
            ip("addr", "add", f"{self.here}/30", "dev", self.interface)
            ip("link", "set", self.interface, "up")
            ip("addr", "add", f"{self.address}/30", "dev", "eth0", inside=self.holder.pid)
            ip("link", "set", "eth0", "up", inside=self.holder.pid)
            ip("route", "add", "default", "via", self.here, inside=self.holder.pid)
        except BaseException:
            self.remove()
            raise

    def _wait_for_namespace(self):
        ours = os.stat("/proc/self/ns/net").st_ino
        for _ in range(500):
            if self.holder.poll() is not None:
                raise Impossible(f"no network namespace: {self.holder.stderr.read().decode().strip()}; be root")
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{self.holder.pid}/ns/net").st_ino != ours:
                    return
            time.sleep(0.01)
        raise Impossible("no network namespace within 5 s")

    def run(self, *command, prepare, **more):
        """Starts a program on this machine, which calls `prepare` before."""
        return subprocess.Popen(
            ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net", *command], preexec_fn=prepare, **more
        )

    def remove(self):
        """Ends the namespace. The interfaces go first: with the namespace they would a moment later, and their names
        are used again."""
        with contextlib.suppress(Impossible):
            ip("link", "del", self.interface)
        self.holder.kill()
        self.holder.wait()
        self.holder.stderr.close()


class Network:
    """All machines of one run, in a /24 of the range that is reserved for such tests (RFC 2544). The last number is a
    proxy's, which gateways trust."""

    PROXY = 62

    def __init__(self):
        used = ip("-o", "-4", "addr", "show")
        numbers = ((os.getpid() + step) % 256 for step in range(256))
        self.net = next((f"198.18.{number}" for number in numbers if f" 198.18.{number}." not in used), None)
        if self.net is None:
            raise Impossible("every net of 198.18.0.0/16 is in use")
        self.machines = {}
        self.numbers = itertools.cycle(range(self.PROXY))

    def add(self):
        """Another machine. Its address is one that no stranger had before, since gateways remember what they sent."""
        return self._add(next(number for number in self.numbers if number not in self.machines))

    def add_proxy(self):
        """The machine whose requests name their clients."""
        return self._add(self.PROXY)

    @property
    def proxy_address(self):
        return f"{self.net}.{4 * self.PROXY + 2}"

    def _add(self, number):
        self.machines[number] = Machine(self.net, number)
        return self.machines[number]

    def remove(self, machine):
        for number, other in list(self.machines.items()):
            if other is machine:
                machine.remove()
                del self.machines[number]

    def close(self):
        for machine in list(self.machines.values()):
            self.remove(machine)
