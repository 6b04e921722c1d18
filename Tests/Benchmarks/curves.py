"""Draws how cost and age grow with rooms, members, connections and instances, as SVG.

    curves.py FOLDER OUTPUT [--seconds N] [--only NAME]…

FOLDER has the programs of a release build. It starts pipelines of its own, with private databases in a folder that is
removed, on free ports, one after the other. Some 8 minutes; nothing else should run.
"""

import argparse
import contextlib
import json
import pathlib
import random
import subprocess
import tempfile

import plot

# Deliveries a second. Where all publishers together would cause more, each sends less often.
MOST_DELIVERIES = 20_000
# Of one publisher.
USUAL_RATE = 60
COMMITS = 200


@contextlib.contextmanager
def pipeline(programs, *options):
    """A pipeline of its own; the folder of its data."""
    with tempfile.TemporaryDirectory() as folder:
        # Gateways take the ports from there on, of those that no connection has by chance.
        port = random.randrange(10_000, 30_000)
        command = [programs / "touchsync", "up", "--port", str(port), "--data", folder, "--json", *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            if not process.stdout.readline():
                raise SystemExit(f"the pipeline did not start: {' '.join(map(str, command))}")
            yield folder
        finally:
            process.terminate()
            process.wait(timeout=60)


class Measurement:
    """Loads of one pipeline."""

    def __init__(self, programs, data, seconds):
        self.command = [programs / "bench", "--data", data, "--json", "--warm-up", "2"]
        self.command += ["--duration", str(seconds)]

    def previews(self, rooms, members, idle=0):
        """Two publishers in each room; CPU of all daemons for a delivery, µs, and the median of previews' ages, ms."""
        load = self._run(rooms, members, idle, "--senders", "2", "--rate", str(rate(rooms, members)))
        return load["cpuPerDelivery"], load["previewP50"]

    def commits(self, rooms, members):
        """Commits by all members; CPU of all daemons for a commit, µs, and the median time to the answer, ms."""
        load = self._run(rooms, members, 0, "--senders", "0", "--committers", str(members), "--commits", str(COMMITS))
        return load["cpuPerCommit"], load["acknowledgementP50"]

    def _run(self, rooms, members, idle, *options):
        command = [*self.command, "--rooms", str(rooms), "--members", str(members), "--idle", str(idle), *options]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(done.stdout)["loads"][0]


def rate(rooms, members):
    """How often each publisher sends in a second."""
    return max(0.5, min(USUAL_RATE, round(MOST_DELIVERIES / (rooms * 2 * (members - 1)), 1)))


PREVIEWS = ("a preview's delivery, µs", "age of previews, ms")
COMMIT = ("a commit to 10 members, µs", "time to its answer, ms")

# A file's name, the chart's title, what lies across, the lines, and what is measured at which places.
CURVES = [
    ("rooms", "Rooms of 10 members, 2 of whom move", "rooms", PREVIEWS,
     lambda load, rooms: load.previews(rooms, 10), (1, 3, 10, 30, 100, 300, 1000)),
    ("members", "One room, 2 of whose members move", "members", PREVIEWS,
     lambda load, members: load.previews(1, members), (2, 5, 10, 30, 100, 300, 1000)),
    ("connections", "20 rooms of 10 beside idle connections", "idle connections", PREVIEWS,
     lambda load, idle: load.previews(20, 10, idle=idle), (10, 100, 1000, 9000)),
    ("commits", f"{COMMITS} commits a second, in rooms of 10", "rooms", COMMIT,
     lambda load, rooms: load.commits(rooms, 10), (1, 10, 100, 1000)),
]
STAGES = ("gateways", "coalescers", "committers", "fanouts")
INSTANCES = ("instances", "20 rooms of 10: CPU for a delivery, µs", "instances of the stage")


def on_one_pipeline(programs, seconds, names, measure, places):
    lines = {name: [] for name in names}
    with pipeline(programs) as data:
        for x in places:
            collect(lines, x, measure(Measurement(programs, data, seconds), x))
    return lines


def by_instances(programs, seconds):
    lines = {stage: [] for stage in STAGES}
    for stage, line in lines.items():
        for count in (1, 2, 3):
            with pipeline(programs, f"--{stage}", str(count)) as data:
                collect({stage: line}, count, Measurement(programs, data, seconds).previews(20, 10)[:1])
    return lines


def collect(lines, x, values):
    for line, value in zip(lines.values(), values):
        line.append((x, value))
    print(f"  {x:>6,}  " + "  ".join(f"{name} {value:.3g}" for name, value in zip(lines, values)), flush=True)


def main():
    parser = argparse.ArgumentParser(prog="curves.py", description=__doc__.split("\n")[0])
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=5, help="how long each load is measured")
    parser.add_argument("--only", action="append", choices=[curve[0] for curve in [*CURVES, INSTANCES]])
    options = parser.parse_args()
    options.output.mkdir(exist_ok=True)
    programs = options.programs.resolve()
    for name, title, across, *how in [*CURVES, INSTANCES]:
        if options.only and name not in options.only:
            continue
        print(title, flush=True)
        lines = on_one_pipeline(programs, options.seconds, *how) if how else by_instances(programs, options.seconds)
        (options.output / f"{name}.svg").write_text(plot.chart(title, across, lines))


if __name__ == "__main__":
    main()
