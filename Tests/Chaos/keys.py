"""Keys of daemons, and the list of them that all daemons have."""

import subprocess

from daemons import PROGRAMS


class Keys:
    """Made as they are asked for, in a cluster's folder."""

    def __init__(self, folder):
        self.folder = folder
        self.peers = folder / "peers"

    def flags(self, stage, name):
        """Makes a daemon's key pair, lists it, and returns the settings that name both files."""
        path = self.folder / f"{name}.key"
        made = subprocess.run(
            [PROGRAMS / "touchsync", "keys", "new", str(path), "--role", stage, "--name", name],
            capture_output=True, text=True, check=True,
        )
        with open(self.peers, "a") as peers:
            peers.write(made.stdout.splitlines()[1] + "\n")
        return [f"--link-key-file={path}", f"--peers-file={self.peers}"]
