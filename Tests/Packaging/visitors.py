"""The chaos runs' apps at work on machines of the tests, in a process of their own."""

import json
import subprocess

from conftest import PROGRAMS
from manager import REPOSITORY


class Visitors:
    """They come on entry, and work until `end`. Orders are those of Tests/Chaos/visitors.py."""

    def __init__(self, folder, **description):
        self.folder = folder
        self.description = description | {"folder": str(folder)}
        self.process = None

    def __enter__(self):
        self.folder.mkdir()
        described = self.folder / "description.json"
        described.write_text(json.dumps(self.description))
        self.log = open(self.folder / "log", "w+b")
        self.process = subprocess.Popen(
            [REPOSITORY / "Tests/Chaos/run.sh", PROGRAMS, "visitors", described], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self.log, text=True)
        assert self._answer() == "ready"
        return self

    def __exit__(self, *failure):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait(30)
            self.log.seek(0)
            raise AssertionError(f"the visitors have ended:\n{self.log.read().decode(errors='replace')[-4000:]}")
        return json.loads(line)

    def order(self, name, **about):
        self.process.stdin.write(json.dumps([name, about]) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def acknowledged(self, more=100, within=60):
        """Waits until so many more commits were acknowledged."""
        self.order("acknowledged", more=more, within=within)

    def figures(self):
        """What became of everything so far; nothing was seen that must not be."""
        figures = self.order("figures")
        assert not figures["violations"], figures["violations"]
        return figures

    def end(self):
        """They settle and leave; returns what was counted. The history checker finds nothing."""
        self.process.stdin.write('["end", {}]\n')
        self.process.stdin.flush()
        verdict = self._answer()
        assert not verdict["violations"] and verdict["code"] == 0, (verdict["violations"], verdict["words"])
        return verdict["counts"]
