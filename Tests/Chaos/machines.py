"""Several machines: network namespaces on one switch. Each is the router of its daemons, which have an address of their own
each, so that the way between any two of them can be cut where neither of them sees it."""

import contextlib
import ctypes
import importlib.util
import os
import pathlib
import socket

REPOSITORY = pathlib.Path(__file__).parents[2]

# The pipeline's tests have hosts on a switch; their folder has modules of the same names as this one.
_spec = importlib.util.spec_from_file_location("pipeline_hosts", REPOSITORY / "Tests/PipelineTests/hosts.py")
hosts = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(hosts)

LIBC = ctypes.CDLL(None, use_errno=True)
NETWORK = 0x40000000


class Local:
    """Where a process runs without machines of its own: here, on loopback."""

    address = "127.0.0.1"
    # Words before the command of what runs there.
    prefix = ()

    def inside(self):
        """A block whose sockets belong to this place."""
        return contextlib.nullcontext()

    def socket(self):
        """A socket that connects from this place."""
        with self.inside():
            made = socket.socket()
        made.setblocking(False)
        return made

    def listener(self, port):
        """A socket that only programs of this place reach."""
        with self.inside():
            return socket.create_server(("127.0.0.1", port), backlog=128)


LOCAL = Local()


class Place(hosts.Namespace, Local):
    """Where one daemon or server of a machine runs, with an address of its own."""

    def __init__(self, machine, number):
        super().__init__()
        self.machine = machine
        self.address = f"{machine.network}.{machine.first + number}"
        self.prefix = ("nsenter", f"--net=/proc/{self.pid}/ns/net", "--")
        port = f"place{number}"
        machine.ip("link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", self.pid)
        machine.ip("link", "set", port, "up")
        machine.ip("route", "add", self.address, "dev", port)
        self.ip("addr", "add", f"{self.address}/32", "dev", "eth0")
        self.ip("link", "set", "eth0", "up")
        self.ip("route", "add", machine.address, "dev", "eth0")
        self.ip("route", "add", "default", "via", machine.address)

    @contextlib.contextmanager
    def inside(self):
        with open("/proc/thread-self/ns/net") as ours, open(f"/proc/{self.pid}/ns/net") as theirs:
            _enter(theirs)
            try:
                yield
            finally:
                _enter(ours)


def _enter(namespace):
    if LIBC.setns(namespace.fileno(), NETWORK) != 0:
        raise OSError(ctypes.get_errno(), "setns")


class Machine(hosts.Host):
    """A host on the switch, and the router of the places on it."""

    # Addresses of each machine's places.
    PLACES = 16

    def __init__(self, switch, number):
        super().__init__(switch, number)
        self.network = switch.net
        self.first = 64 + self.PLACES * number
        self.range = f"{self.network}.{self.first}/28"
        self.places = []
        self.blocks = 0
        self.run("sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward").wait()

    def place(self):
        """A new place."""
        self.places.append(Place(self, len(self.places)))
        return self.places[-1]

    def cut(self):
        """Its interface goes down: what it sends and what is sent to it vanishes, and nobody is told."""
        self.switch.ip("link", "set", self.port, "down")

    def restore(self):
        """The interface comes back, and with it all ways."""
        self.switch.ip("link", "set", self.port, "up")
        for _ in range(self.blocks):
            self.ip("rule", "del", "pref", "10")
        self.blocks = 0

    def block(self, place, other):
        """What one of its places and another place send each other vanishes here, in both directions.

        A rule of the router does it, which every kernel with policy routing has, and whose victims get no answer: a
        blackhole at the sender's own would refuse its connections at once.
        """
        for source, target in ((place, other), (other, place)):
            self.ip("rule", "add", "from", source.address, "to", target.address, "blackhole", "pref", "10")
            self.blocks += 1

    def close(self):
        for place in self.places:
            place.close()
        super().close()


class Machines:
    """Machines for daemons, on each of which is one of every stage, and two more: the primary's and the standby's."""

    def __init__(self, machines):
        self.all = machines
        self.count = len(machines) - 2
        # By the name of what runs there.
        self.places = {}

    def machine(self, name):
        """On which one something runs: its name ends with its number."""
        number = int(name.rpartition("-")[2]) - 1
        return self.all[self.count + number if name.startswith("postgres") else number]

    def place(self, name):
        if name not in self.places:
            self.places[name] = self.machine(name).place()
        return self.places[name]

    def block(self, names, others):
        """Cuts the ways between some and others."""
        for name in names:
            for other in others:
                self.machine(name).block(self.place(name), self.place(other))

    def restore(self):
        for machine in self.all:
            machine.restore()


@contextlib.contextmanager
def machines(count):
    """`count` machines for daemons and two for the database, for the length of a block.

    Raises `hosts.network.Impossible` without the right to make network namespaces.
    """
    if os.geteuid() != 0:
        raise hosts.network.Impossible("machines are network namespaces, which only root may make")
    with contextlib.ExitStack() as stack:
        switch = stack.enter_context(contextlib.closing(hosts.Switch()))
        made = [stack.enter_context(contextlib.closing(Machine(switch, number))) for number in range(count + 2)]
        for machine in made:
            hosts.ip("route", "add", machine.range, "via", machine.address)
            for other in made:
                if other is not machine:
                    other.ip("route", "add", machine.range, "via", machine.address)
        yield Machines(made)
