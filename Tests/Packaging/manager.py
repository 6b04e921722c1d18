"""What a service manager does for a daemon: it hears what the daemon reports (sd_notify(3)), and passes its unit's settings on."""

import pathlib
import select
import socket
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
UNITS = REPOSITORY / "deploy" / "systemd"


class NotifySocket:
    """Receives a daemon's messages."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        # What daemons read as NOTIFY_SOCKET.
        self.address = str(path).replace("\0", "@")
        self.heard = []

    def close(self):
        self.socket.close()

    def listen(self, seconds):
        """The lines that arrive in a time."""
        first = len(self.heard)
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and select.select([self.socket], [], [], left)[0]:
            self.heard += self.socket.recv(4096).decode().splitlines()
        return self.heard[first:]

    def wait_for(self, line, within):
        """Waits for a line; returns those before it, too."""
        first = len(self.heard)
        end = time.monotonic() + within
        while line not in self.heard[first:]:
            left = end - time.monotonic()
            assert left > 0 and select.select([self.socket], [], [], left)[0], (
                f"no {line} within {within} s, but {self.heard[first:][-5:]}")
            self.heard += self.socket.recv(4096).decode().splitlines()
        return self.heard[first:]


def settings(unit, instance):
    """The settings of a unit's service, in the order of its files: the daemons' drop-in comes last."""
    found = {}
    for path in (UNITS / unit.replace(f"@{instance}", "@"), UNITS / "daemons.conf"):
        section = None
        for line in path.read_text().splitlines():
            if line.startswith("["):
                section = line
            elif section == "[Service]" and line and not line.startswith("#"):
                name, value = line.split("=", 1)
                found.setdefault(name, []).append(value.replace("%i", str(instance)))
    return found


def environment(unit, instance, root):
    """What systemd would pass on: `Environment=`, over it the files, each over those before it."""
    service = settings(unit, instance)
    variables = dict(pair.split("=", 1) for pair in service["Environment"])
    for name in service["EnvironmentFile"]:
        path = pathlib.Path(f"{root}{name.removeprefix('-')}")
        if not path.exists():
            assert name.startswith("-"), f"{path} is missing"
            continue
        for line in path.read_text().splitlines():
            if line and not line.startswith("#"):
                key, value = line.split("=", 1)
                variables[key] = value
    return variables
