"""Runs attacks on a pipeline, one after the other, and judges what a well-behaved app felt of each.

    hostile.py [--seconds S] [--only NAME,…] [--list]
"""

import argparse
import ast
import contextlib
import dataclasses
import pathlib
import signal
import sys
import time

import judge
from links import LinkedPipeline
from network import Impossible, Network
from pipeline import Pipeline, remove_leftovers
from scene import Scene

HERE = pathlib.Path(__file__).parent
# In the order in which they run: those that leave nothing behind come first.
ATTACKS = [
    "connect_keys", "odd_json", "pipelined_gets", "polling_sessions", "connection_flood", "slow_bodies",
    "chunk_framing", "announced_frames", "control_frames", "engine_frames", "binary", "refused_tokens", "upgrade_storm",
    "unread_streams", "unread_sockets", "unread_rooms", "unread_leaves", "unread_rejoins", "unread_polls",
    "unread_users", "dear_selections", "join_storm", "preview_flood", "commit_flood", "undo_flood",
    "http_reads", "http_creates", "room_bloat", "cascade_bloat", "odd_motions", "endless_groups", "large_commits",
]
# On pipelines whose links are TCP: plain, and guarded by keys.
LINK_ATTACKS = ["link_garbage"]
GUARDED_ATTACKS = ["guarded_link_garbage"]
# `make test` leaves these out: others are of their kind.
ALIKE = [
    "odd_json", "odd_motions", "slow_bodies", "announced_frames", "binary", "upgrade_storm", "http_reads",
    "large_commits", *LINK_ATTACKS, *GUARDED_ATTACKS, "join_storm", "preview_flood", "commit_flood", "http_creates",
    "unread_rooms", "unread_rejoins",
]
# How long the largest commits of an attack keep those of others waiting, ms, since a shard's commits are in order: 800
# elements, 200, and 200 KB, each of which took 10 to 50 ms longer than a small one where that was measured; a group of 500
# that moves costs up to twice as much as one that is moved.
LARGEST_COMMIT = {"cascade_bloat": 60, "endless_groups": 60, "http_creates": 20, "large_commits": 20}
# What an attack may keep beside what others may, MiB: 40 apps that read no answers up to `max-buffered-bytes` (1 MiB) each,
# and of each a message of 256 KiB that has not arrived whole.
UNREAD = {"large_commits": 50}


def description(name):
    """An attack's docstring: its title, and its other paragraphs by their first word."""
    text = ast.get_docstring(ast.parse((HERE / "attacks" / f"{name}.py").read_text()))
    title, _, rest = text.partition("\n\n")
    parts, key = {}, None
    for line in rest.splitlines():
        if not line.startswith(" "):
            key, _, line = line.partition(": ")
            parts[key] = line
        else:
            parts[key] += f" {line.strip()}"
    return title, parts


def table():
    """The attacks as a table in Markdown."""
    rows = ["| attack | what a stranger does | what would break | what limits it |", "| --- | --- | --- | --- |"]
    for name in ATTACKS + LINK_ATTACKS + GUARDED_ATTACKS:
        title, parts = description(name)
        rows.append(f"| **{title.rstrip('.')}** (`{name}`) | {parts['Does']} | {parts['Breaks']} | {parts['Limit']} |")
    return "\n".join(rows)


def differs():
    """Whether the README's table is another than the attacks' docstrings."""
    return table() not in (HERE / "README.md").read_text()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=5, help="length of each attack")
    parser.add_argument("--calm", type=float, default=1.5, help="seconds of calm in which delays are compared")
    parser.add_argument("--allowance-ms", type=float, default=20, help="what a busy machine may add to delays")
    parser.add_argument("--factor", type=float, default=3, help="how much longer delays may be during an attack")
    parser.add_argument("--memory-mib", type=int, default=64, help="how much a daemon may grow")
    parser.add_argument("--only", help="names of attacks, joined by commas")
    parser.add_argument("--all", action="store_true", help="also those that `make test` leaves out")
    parser.add_argument("--list", action="store_true", help="print the attacks as a table and end")
    return parser.parse_args()


def run(scene, names, usual):
    """Plays the attacks and returns how many failed."""
    failed = 0
    for name in names:
        limits = dataclasses.replace(
            usual, allowance=usual.allowance + LARGEST_COMMIT.get(name, 0),
            memory=usual.memory + UNREAD.get(name, 0) * judge.MEBIBYTE)
        outcome = scene.play(name)
        if outcome.delay_faults(limits) and not outcome.lasting_faults(limits):
            # A busy machine is late now and then; what an attack does, it does again.
            print(f"again   {name}: {outcome.delay_faults(limits)[0]}", flush=True)
            outcome = scene.play(name)
        faults = outcome.lasting_faults(limits) + outcome.delay_faults(limits)
        failed += bool(faults)
        print(outcome.line(limits), flush=True)
    return failed


@contextlib.contextmanager
def started(pipeline):
    """A pipeline for the length of a block."""
    try:
        yield pipeline.start()
    finally:
        pipeline.stop()


def chosen(options):
    """The names of the attacks to run; ends the program if there is none of a name."""
    known = ATTACKS + LINK_ATTACKS + GUARDED_ATTACKS
    usual = [name for name in known if options.all or name not in ALIKE]
    names = options.only.split(",") if options.only else usual
    if unknown := set(names) - set(known):
        sys.exit(f"hostile: no such attack: {', '.join(unknown)}")
    return names


def attack(network, names, options):
    """Starts what the attacks need, plays them and returns how many failed."""
    limits = judge.Limits(options.factor, options.allowance_ms, options.memory_mib * judge.MEBIBYTE)
    host = network.machines[0].here
    with started(Pipeline(host, network.proxy_address)) as pipeline:
        failed = run(Scene(network, pipeline, limits, options), [name for name in names if name in ATTACKS], limits)
        for attacks, is_guarded in [(LINK_ATTACKS, False), (GUARDED_ATTACKS, True)]:
            links = [name for name in names if name in attacks]
            if links:
                with started(LinkedPipeline(host, pipeline, is_guarded)) as linked:
                    failed += run(Scene(network, linked, limits, options), links, limits)
    return failed


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options = arguments()
    if options.list:
        print(table())
        return 0
    if differs():
        sys.exit("hostile: FAILED: README.md has another table than --list prints")
    names = chosen(options)
    start = time.monotonic()
    remove_leftovers()
    try:
        with contextlib.closing(Network()) as network:
            network.add()
            failed = attack(network, names, options)
    except Impossible as error:
        print(f"hostile: FAILED: this needs network namespaces of its own, and to be root: {error}")
        failed = len(names)
    print(f"{len(names)} attacks in {time.monotonic() - start:.0f} s")
    print(f"{len(names) - failed} passed, {failed} failed")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
