"""A wire between machines: a bridge of this machine, and the network of each machine, which is there before it boots and
after it has lost its power."""

import subprocess


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Wire:
    """Lies on entry; this machine is on it as .254. `name` and `network`, as in 10.213.7, are of this wire alone."""

    def __init__(self, name, network):
        self.name = name
        self.network = network
        self.namespaces = []

    def __enter__(self):
        ip("link", "add", self.name, "type", "bridge")
        ip("address", "add", f"{self.network}.254/24", "dev", self.name)
        ip("link", "set", self.name, "up")
        return self

    def __exit__(self, *failure):
        for namespace in self.namespaces:
            ip("netns", "delete", namespace)
        ip("link", "delete", self.name)

    def address(self, number):
        return f"{self.network}.{number}"

    def end(self, number):
        """The network of a machine with that number, whose address ends with it: the path of its namespace."""
        end = f"{self.name}{number}"
        ip("netns", "add", end)
        self.namespaces.append(end)
        ip("link", "add", end, "type", "veth", "peer", "name", "host0", "netns", end)
        ip("link", "set", end, "master", self.name, "up")
        for words in (
            ("link", "set", "lo", "up"), ("address", "add", f"{self.address(number)}/24", "dev", "host0"),
            ("link", "set", "host0", "up"),
        ):
            ip("-n", end, *words)
        return f"/run/netns/{end}"

    def cut(self, number):
        """What a machine sends and what is sent to it vanishes, and nobody is told."""
        ip("link", "set", f"{self.name}{number}", "down")

    def mend(self, number):
        ip("link", "set", f"{self.name}{number}", "up")
