"""Prints the files and functions that one kind of record passes, daemon by daemon.

    walk.py element:transforming [--records 50] [--summary]

A pipeline with two gateways runs with a counter for each function. One app, on the first gateway, sends records; another
one, on the second gateway, is in the same room. A function whose count grows by at least one with each record is on the
record's way; one that grows less often (a flush of several records, a timer) is beside it. What grows in the same time
without records is subtracted first. A function that comes as often without records (in a turn of a loop) is in neither
list: whether a record passes it does not follow from its count. A type without a function is in no list.
"""

import argparse
import collections
import json
import pathlib
import signal
import subprocess
import sys
import time

import requests

import pipeline as pipelines
from app import App
from counters import REPOSITORY, Counters

ROOM = "walk"
# Between two records: longer than a flush interval, so that each preview goes out by itself.
PAUSE = 0.06


def transform(index):
    return {"roomId": ROOM, "elementId": "a", "positionX": index, "positionY": 2, "transform": {"rotation": index}}


# The payload of each record by event; "+gesture" is a commit that ends one.
PAYLOADS = {
    "element:transforming": transform,
    "element:gesturing": lambda index: {"roomId": ROOM, "elementId": "a", "translation": {"x": index, "y": 1}},
    "elements:gesturing": lambda index: {
        "roomId": ROOM, "elements": ["a", "b"], "pivot": {"x": 0, "y": 0}, "rotation": index},
    "cursor:moving": lambda index: {"roomId": ROOM, "x": index, "y": 1},
    "selection:set": lambda index: {"roomId": ROOM, "elementIds": ["a", "b"][: index % 2 + 1]},
    "viewport:set": lambda index: {"roomId": ROOM, "x": index, "y": 0, "width": 900, "height": 900},
    "element:transform": transform,
    "element:transform+gesture": lambda index: transform(index) | {"gesture": index + 1},
    "elements:transform": lambda index: {
        "roomId": ROOM, "elements": [{"elementId": name, "positionX": index} for name in "ab"]},
    "element:gesture": lambda index: {"roomId": ROOM, "elementId": "a", "rotation": 1},
    "elements:gesture": lambda index: {"roomId": ROOM, "elements": ["a", "b"], "pivot": {"x": 0, "y": 0}, "rotation": 1},
    "element:preset": lambda index: {"roomId": ROOM, "elementId": "a", "preset": "flipX"},
    "element:create": lambda index: {"roomId": ROOM, "element": {"id": f"new-{index}", "type": "note"}},
    "element:update": lambda index: {"roomId": ROOM, "elementId": "a", "set": {"zIndex": index}},
    "element:delete": lambda index: {"roomId": ROOM, "elementId": f"spare-{index}"},
    "history:undo": lambda index: {"roomId": ROOM},
    "room:join": lambda index: {"roomId": f"{ROOM}-{index}"},
    "client:ping": lambda index: {},
}
HTTP = "POST /api/rooms/{roomId}/elements"
UNANSWERED = {"element:transforming", "element:gesturing", "elements:gesturing", "cursor:moving"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("event", choices=[*PAYLOADS, "http"], metavar="EVENT",
                        help=f"one of {', '.join(PAYLOADS)}, or http for {HTTP}")
    parser.add_argument("--records", type=int, default=50)
    parser.add_argument("--summary", action="store_true", help="print the totals only")
    return parser.parse_args()


class Walk:
    """A pipeline whose functions count, and two apps in one room."""

    def __init__(self, event, records):
        self.event, self.records = event, records
        self.pipeline = pipelines.Pipeline(
            "--origins", "*", "--commits-per-second", "1000", "--commit-burst", "1000", gateways=2)
        self.pipeline.environment["LLVM_PROFILE_FILE"] = f"{self.pipeline.folder}/%p%c.profraw"

    def __enter__(self):
        self.pipeline.start(within=120)
        self.publisher = App(self.pipeline.urls[0], "publisher").connect()
        self.watcher = App(self.pipeline.urls[1], "watcher").connect()
        for app in (self.publisher, self.watcher):
            app.join(ROOM)
        self.publisher.ok("elements:create", {"roomId": ROOM, "elements": [{"id": name, "type": "note"} for name in "ab"]})
        self.prepare()
        # Once the way is warm, what is made once is made.
        for index in range(-5, 0):
            self.send(index)
        # Each of its scrapes runs through hundreds of functions, and would fall into one of two equal periods only.
        self.pipeline.kill("monitor", how=signal.SIGSTOP)
        time.sleep(2)
        return self

    def __exit__(self, *_):
        self.pipeline.kill("monitor", how=signal.SIGCONT)
        for app in (self.publisher, self.watcher):
            app.close()
        self.pipeline.remove()

    def prepare(self):
        """What the records need to be there."""
        everyone = range(-5, self.records)
        if self.event == "element:delete":
            for index in everyone:
                self.publisher.ok("element:create", {"roomId": ROOM, "element": {"id": f"spare-{index}", "type": "note"}})
        if self.event == "history:undo":
            for index in everyone:
                self.publisher.ok("element:transform", transform(index))

    def send(self, index):
        if self.event == "http":
            answer = requests.post(
                f"{self.pipeline.urls[0]}/api/rooms/{ROOM}/elements", json={"id": f"http-{index}", "type": "note"})
            assert answer.status_code == 201, answer.text
            return
        event, payload = self.event.removesuffix("+gesture"), PAYLOADS[self.event](index)
        if "gesture" in payload:
            payload["gesture"] = index + 10
        if event in UNANSWERED:
            self.publisher.send(event, payload)
        else:
            answer = self.publisher.call(event, payload)
            assert answer["ok"], answer

    def processes(self):
        """(daemon, counters) in the order of a record's way."""
        found = collections.defaultdict(list)
        for process in self.pipeline.report["processes"]:
            raw = self.pipeline.folder / f"{process['pid']}.profraw"
            # The monitor sees no record.
            if raw.exists() and process["stage"] != "monitor":
                found[process["stage"]].append(Counters(pipelines.PROGRAMS / f"touchsync-{process['stage']}", raw))
        sender, receiver = found["gateway"]
        return [
            ("gateway of the sender", sender), ("coalescer", found["coalescer"][0]),
            ("committer", found["committer"][0]), ("fan-out", found["fanout"][0]), ("gateway of the member", receiver),
        ]

    def growth(self):
        """For each daemon: the counters, and by how much each count grows because of the records and without them."""
        processes = self.processes()

        def read():
            return [counters.read() for _, counters in processes]

        before = read()
        start = time.monotonic()
        for index in range(self.records):
            self.send(index)
            time.sleep(PAUSE)
        time.sleep(0.5)
        seconds = time.monotonic() - start
        after = read()
        quiet = read()
        time.sleep(seconds)
        idle = read()
        for (name, counters), *reads in zip(processes, before, after, quiet, idle):
            first, last, third, fourth = reads
            alone = {symbol: fourth[symbol] - third[symbol] for symbol in last}
            yield name, counters, {symbol: last[symbol] - first[symbol] - alone[symbol] for symbol in last}, alone


def layers():
    """The folder of each module, in the order of target dependencies."""
    described = subprocess.run(
        ["swift", "package", "describe", "--type", "json"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    targets = {target["name"]: target for target in json.loads(described.stdout)["targets"]}
    ordered = {}

    def visit(name):
        for dependency in targets[name].get("target_dependencies", []):
            visit(dependency)
        ordered.setdefault(name, targets[name]["path"])

    for name in sorted(targets):
        visit(name)
    return list(ordered.values())


def module_folder(file, modules):
    """The module's folder that a file lies in."""
    return next(path for path in modules if file.startswith(path + "/"))


def report(event, records, growth, modules, is_summary):
    """Prints the way, daemon by daemon."""
    everything, total_functions = set(), 0
    print(f"{event}: {records} records\n")
    for name, counters, grown, alone in growth:
        functions = counters.functions([symbol for symbol, count in grown.items() if count > 0])
        on_way, turns, beside = collections.defaultdict(set), set(), set()
        for symbol, function in functions.items():
            if grown[symbol] <= alone[symbol]:
                turns.add(function.file)
            elif grown[symbol] >= 0.95 * records:
                on_way[function.file].add(function.name)
            else:
                beside.add(function.file)
        turns -= set(on_way)
        beside -= turns | set(on_way)
        count = sum(map(len, on_way.values()))
        everything |= set(on_way)
        total_functions += count
        print(
            f"{name}: {len(on_way)} files, {count} functions; "
            f"in turns of loops {len(turns)} files; beside the way {len(beside)} files")
        if is_summary:
            continue
        for module in modules:
            files = sorted(file for file in on_way if module_folder(file, modules) == module)
            if not files:
                continue
            print(f"  {module}")
            for file in files:
                print(f"    {file.removeprefix(module + '/')}: {', '.join(sorted(on_way[file]))}")
        for title, files in (("in turns of loops", turns), ("beside the way", beside)):
            if files:
                print(f"  {title}: {', '.join(sorted(pathlib.Path(file).name for file in files))}")
        print()
    print(f"{event}: {len(everything)} files, {total_functions} functions")


def main():
    asked = arguments()
    modules = layers()
    with Walk(asked.event, asked.records) as walk:
        growth = list(walk.growth())
        report(asked.event, asked.records, growth, modules, asked.summary)


if __name__ == "__main__":
    sys.exit(main())
