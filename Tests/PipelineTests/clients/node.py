"""Node as a place for the official client."""

import contextlib
import json
import os
import subprocess
import threading

from clients.javascript import DRIVER, Place, client_file


class Node(Place):
    """One process of Node, spoken to in lines."""

    def __init__(self):
        super().__init__()
        # Where Debian's packages of libraries lie; other builds of Node do not look there.
        environment = {**os.environ, "NODE_PATH": "/usr/share/nodejs"}
        self.process = subprocess.Popen(
            ["node", str(DRIVER), str(client_file())], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=environment,
        )
        self.said = ""
        self.writing = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in self.process.stderr:
            # The client is one endless line, which an error would show.
            self.said = (self.said + line[:300])[-3000:]

    def _read(self):
        for line in self.process.stdout:
            self.reported(json.loads(line))

    def command(self, command):
        with self.writing:
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()

    def complaints(self):
        return self.said

    def close(self):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
