"""Runs the whole pipeline under load and faults, and judges what became of every commit.

    run.sh FOLDER [--seconds N] [--seed N] [--clients N] [--faults NAME,… | main] [--slow-joiners N] [--people N] [--keys]
        [--hosts N] [--keep]
"""

import argparse
import asyncio
import contextlib
import random
import signal
import sys
import time

import uvloop

from client_faults import CLIENTS
from cluster import keep_evidence, temporary_folder
from daemons import STAGES
from database_faults import DATABASE
from faults import PROCESSES
from machine_faults import MACHINES
from machines import machines
from report import OF_LOOKS, Report
from scene import judge, running
from slow import SETTINGS

FAULTS = {fault.name: fault for fault in PROCESSES + DATABASE + CLIENTS + MACHINES}


def arguments():
    parser = argparse.ArgumentParser(prog="run.sh FOLDER", description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="how long faults strike; default 60")
    parser.add_argument("--seed", type=int, default=None, help="decides faults and apps; drawn and told without it")
    parser.add_argument("--clients", type=int, default=200, help="apps, ten to a room; default 200")
    parser.add_argument("--pause", type=float, default=2.0, help="mean seconds between two actions of an app")
    parser.add_argument("--faults", default="all", help="kinds, joined by commas; main: the short form's; hosts: those of"
                        " hosts and their network; all")
    parser.add_argument(
        "--slow-joiners", type=int, default=None,
        help="readers of a large room over slow connections; default 4 when faults strike for 2 minutes or more, else 0",
    )
    parser.add_argument(
        "--people", type=int, default=None,
        help="users of each client library, in processes of their own; default 2 when faults strike for 2 minutes or more,"
        " else 1",
    )
    parser.add_argument("--keys", action="store_true", help="guard the links by keys, as between machines")
    parser.add_argument(
        "--hosts", type=int, default=0,
        help="spread everything over network namespaces: one daemon of each stage on each of N, 2 or more, and a host for"
        " each database server; guards the links by keys; as root",
    )
    parser.add_argument("--keep", action="store_true", help="leave logs, data and history where they are")
    parser.add_argument("--list", action="store_true", help="name the kinds of faults and end")
    options = parser.parse_args()
    if options.hosts and not 2 <= options.hosts <= 8:
        parser.error("--hosts takes 2 to 8")
    options.keys = options.keys or options.hosts > 0
    return options


def chosen(options):
    """The kinds of faults. Nobody between two daemons can repeat what is guarded by keys."""
    if options.faults == "hosts":
        return MACHINES
    if options.faults not in ("all", "main"):
        return [FAULTS[name] for name in options.faults.split(",")]
    return [
        fault for fault in FAULTS.values()
        if (options.faults == "all" or fault.is_main) and not (options.keys and fault.name == "link-repeat")
        and (options.people or fault not in CLIENTS) and (options.hosts or fault not in MACHINES)
    ]


class Nemesis:
    """Draws faults by seed: each kind once before any comes again."""

    def __init__(self, world, faults):
        self.world = world
        self.faults = faults
        self.random = world.random
        self.deck = []
        # How often the deck was made.
        self.decks = 0

    def draw(self, small=False):
        for index, fault in enumerate(self.deck):
            if not small or fault.is_small:
                return self.deck.pop(index)
        if small:
            return None
        self.deck = list(self.faults)
        self.decks += 1
        self.random.shuffle(self.deck)
        return self.deck.pop(0)

    async def run(self, seconds, report):
        """For so long, and until each kind was there once."""
        end = time.monotonic() + seconds
        while time.monotonic() < end or self.decks == 0 or (self.decks == 1 and self.deck):
            faults = [self.draw()]
            if self.random.random() < 0.25 and (second := self.draw(small=True)):
                faults.append(second)
            await self._strike(faults, report)
            await asyncio.sleep(self.random.uniform(0.1, 1.0))

    async def _strike(self, faults, report):
        world = self.world
        world.outages.begin()
        began = time.monotonic()
        acks = world.counts["acks"]
        try:
            async with asyncio.timeout(60):
                await asyncio.gather(*(fault.strike(world) for fault in faults))
        except TimeoutError:
            world.violation(f"{[fault.name for fault in faults]} took too long")
        struck = time.monotonic() - began
        world.cluster.heal()
        await world.recovers()
        for fault in faults:
            world.counts[f"faults.{fault.name}"] += 1
        report.struck(faults, struck, time.monotonic() - began, world.counts["acks"] - acks, world.outages)


async def run(folder, options, seed, faults):
    """The report of a run; its history lies in the folder."""
    report = Report(seed, faults)
    slow = options.slow_joiners if options.slow_joiners is not None else 4 if options.seconds >= 120 else 0
    more = {"settings": SETTINGS} if slow else {}
    with machines(options.hosts) if options.hosts else contextlib.nullcontext() as hosts:
        if hosts:
            more |= {"machines": hosts, "counts": dict.fromkeys(STAGES, options.hosts)}
        async with running(
            folder, seed, options.clients, options.pause, slow, looks=True, people=options.people, is_keyed=options.keys,
            # Of a machine that is cut off a reader hears too late for the judge: nothing tells it to look.
            followers=not options.hosts, **more,
        ) as world:
            await Nemesis(world, faults).run(options.seconds, report)
    report.finish(world)
    report.add_counts(folder / "history.jsonl")
    return report


def main():
    options = arguments()
    if options.list:
        print("\n".join(f"{name:22} {'main ' if fault.is_main else '     '} {fault.__doc__.splitlines()[0]}"
                        for name, fault in FAULTS.items()))
        return 0
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 31)
    if options.people is None:
        options.people = 2 if options.seconds >= 120 else 1
    faults = chosen(options)
    where = f" on {options.hosts} + 2 hosts" if options.hosts else ""
    print(f"chaos: seed {seed}, {options.clients} apps{where}, {options.seconds:.0f} s, {len(faults)} kinds of faults",
          flush=True)

    with temporary_folder(keeps=options.keep) as folder:

        async def interruptible():
            loop, task = asyncio.get_running_loop(), asyncio.current_task()
            for signal_number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(signal_number, task.cancel)
            return await run(folder, options, seed, faults)

        report = uvloop.run(interruptible())
        ok = report.show()
        code, words = judge(folder / "history.jsonl", report.required + list(OF_LOOKS))
        # The counts were shown above.
        print("\n" + "\n".join(line for line in words.splitlines() if line[:1] in "I " or line.startswith(("count", "the "))))
        ok = ok and code == 0
        if options.keep:
            print(f"chaos: everything is left in {folder}")
        elif not ok:
            print(f"chaos: the history and the logs are in {keep_evidence(folder)}")
    print(f"chaos: {'passed' if ok else 'FAILED'}, seed {seed}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
