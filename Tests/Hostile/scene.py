"""One attack: the victim's machine, the stranger's, and the windows in which the victim is watched."""

import collections
import json
import pathlib
import subprocess
import sys
import threading
import time

from judge import Delays, Outcome
from links import Here
from network import end_with_parent, first
from watch import Watch

HERE = pathlib.Path(__file__).parent
# Attacks by way of the proxy that the gateways trust.
BEHIND_PROXY = {"chunk_framing"}
# From the end of an attack to the moment from which all must be as before, seconds.
SETTLING = 1.0
# Users besides the one whose token most attacks use.
CROWD = 11


class VictimProcess:
    """The victim's program, and what it reported."""

    def __init__(self, machine, pipeline, tokens, room):
        self.process = machine.run(
            sys.executable, str(HERE / "victim.py"), prepare=first, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        )
        self.reports = []
        self.changed = threading.Condition()
        place = {"host": pipeline.host, "port": pipeline.port, "room": room, **tokens}
        self._write(json.dumps(place))
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        for line in self.process.stdout:
            with self.changed:
                self.reports.append(json.loads(line))
                self.changed.notify_all()
        with self.changed:
            self.reports.append({"ended": True})
            self.changed.notify_all()

    def _write(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except OSError:
            pass

    def wait(self, key, within=40.0):
        """The report that has this key; None when there is none in time or the program ended without it."""
        found = lambda: next((report for report in self.reports if key in report), None)
        with self.changed:
            self.changed.wait_for(lambda: found() or any("ended" in report for report in self.reports), within)
            return found()

    def ask(self, command, key):
        self._write(command)
        return self.wait(key)

    def commits(self, start, end):
        """The delays of commits that were due in this time, ms."""
        commits = [report for report in list(self.reports) if "commit" in report]
        return [report["commit"] for report in commits if start <= report["due"] < end]

    def failed_visits(self, start, end):
        """A fault if newcomers of this time did not get in."""
        visits = [report for report in list(self.reports) if "visit" in report and start <= report["due"] < end]
        failed = [report["problem"] for report in visits if report["visit"] is None]
        return [f"{len(failed)} of {len(visits)} newcomers did not get in within 5 s: {failed[0]}"] if failed else []

    def close(self):
        self.process.kill()
        self.process.wait()
        self.thread.join()
        self.process.stdin.close()
        self.process.stdout.close()


class Scene:
    """Everything that stays the same from one attack to the next."""

    def __init__(self, network, pipeline, limits, options):
        self.network = network
        self.pipeline = pipeline
        self.limits = limits
        self.seconds = options.seconds
        self.calm_seconds = options.calm
        self.machine = next(iter(network.machines.values()))
        self.tokens = {"token": pipeline.token("victim"), "witness": pipeline.token("witness")}
        self.guest = pipeline.token("guest")
        self.crowd = [pipeline.token(f"guest-{number}") for number in range(CROWD)]
        # Delays in the latest calm windows, a list for each, ms.
        self.calm = collections.deque(maxlen=3)
        self.rooms = 0

    def play(self, name):
        """Runs one attack and returns its outcome."""
        self.rooms += 1
        room = f"studio-{self.rooms}"
        watch = Watch(self.pipeline.pids)
        self.pipeline.put_first()
        victim = VictimProcess(self.machine, self.pipeline, self.tokens, room)
        stranger = self.stranger(name)
        try:
            return self._play(name, room, watch, victim, stranger)
        finally:
            watch.stop()
            victim.close()
            self.network.remove(stranger)

    def stranger(self, name):
        """The machine from which an attack comes."""
        if self.pipeline.link_ports:
            return Here()
        return self.network.add_proxy() if name in BEHIND_PROXY else self.network.add()

    def _play(self, name, room, watch, victim, stranger):
        opening = time.monotonic()
        if not victim.wait("ready", within=20):
            faults = ["the victim does not get in", *self.daemon_faults()]
            nothing = Delays.of([])
            return Outcome(name, nothing, nothing, nothing, {}, {}, faults, {})
        start = self.wait_in_calm(victim)
        calm = Delays.of([delay for window in self.calm for delay in window])
        counts, faults = self.attack(name, stranger, room)
        end = time.monotonic()
        time.sleep(SETTLING + self.calm_seconds)
        after = end + SETTLING, end + SETTLING + self.calm_seconds
        cleaned, victim_faults = self.last_words(victim)
        faults += victim_faults + victim.failed_visits(start, after[1]) + self.daemon_faults()

        spans = (opening, start), (start, end), (end, time.monotonic())
        peaks = [watch.peak(*span) for span in spans]
        outcome = Outcome(
            name, calm, Delays.of(victim.commits(start, end)), Delays.of(victim.commits(*after)),
            {daemon: tuple(peak[daemon] for peak in peaks) for daemon in watch.pids}, watch.load(start, end), faults,
            counts, cleaned,
        )
        if faults or outcome.delay_faults(self.limits):
            self.calm.clear()
        else:
            self.calm.append(victim.commits(*after))
        return outcome

    def wait_in_calm(self, victim):
        """Watches the victim undisturbed, unless the last attacks left calm windows; returns when that ended."""
        # Programs that have just started are slower than later.
        time.sleep(0.3 if self.calm else 1.5)
        start = time.monotonic()
        time.sleep(0.3 if self.calm else 2 * self.calm_seconds)
        end = time.monotonic()
        if not self.calm:
            self.calm.append(victim.commits(start, end))
        return end

    @staticmethod
    def last_words(victim):
        """Lets the victim clean its room and end; returns what it cleaned, for the report, and its faults."""
        cleaned = victim.ask("clean", "cleaned") or {"cleaned": None, "problem": "the victim ended"}
        summary = victim.ask("stop", "faults") or {"faults": ["the victim ended"]}
        faults = summary["faults"]
        if cleaned["problem"]:
            faults = [*faults, f"the victim cannot clean its room: {cleaned['problem']}"]
        if not cleaned["cleaned"]:
            return "", faults
        return f"; {cleaned['cleaned']} elements cleaned in {cleaned['ms']:.0f} ms", faults

    def attack(self, name, stranger, room):
        """Lets a stranger attack; returns what it did, and what it should have been able or not been able to do."""
        pipeline = self.pipeline
        target = {
            "host": "127.0.0.1" if pipeline.link_ports else pipeline.host, "port": pipeline.port,
            "link_ports": list(pipeline.link_ports), "seconds": self.seconds,
            "token": self.guest, "tokens": self.crowd, "room": room,
        }
        process = stranger.run(
            sys.executable, str(HERE / "stranger.py"), name, prepare=end_with_parent, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        try:
            out, problems = process.communicate(json.dumps(target), timeout=self.seconds + 15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return {}, ["the stranger's program did not end"]
        if process.returncode != 0:
            return {}, [f"the stranger's program failed: {problems.strip().splitlines()[-1:]}"]
        report = json.loads(out)
        return report["counts"], report["faults"]

    def daemon_faults(self):
        """Daemons that are not what they were, or not ready. Restarted ones count as what they are from then on."""
        before = self.pipeline.pids
        present = self.pipeline.refresh()
        ended = [f"{name} ended" for name, pid in before.items() if present.get(name) != pid]
        return ended + [f"not ready: {reason}" for reason in self.pipeline.unready()]
