"""Apps of the harness at work on a pipeline that somebody else runs, until they are told to end.

    run.sh FOLDER visitors DESCRIPTION

DESCRIPTION is a JSON file: `folder` for the history, `seed`, `apps`, and what `Elsewhere` and its `add` take. Orders come as
JSON lines on standard input, each is answered by one on standard output: an array of the order's name and what it is about.
"""

import asyncio
import json
import pathlib
import sys
import traceback

import uvloop

sys.path.insert(0, str(pathlib.Path(__file__).parent / "rows"))

from drill import all_start_over, commit_past_a_moment  # noqa: E402
from elsewhere import Elsewhere  # noqa: E402
from scene import judge, running  # noqa: E402

# Mean seconds between two actions of an app.
PAUSE = 1.0


class Visitors:
    """The orders. Each returns its answer."""

    def __init__(self, world):
        self.world = world

    async def figures(self):
        """What became of everything so far, and how long nobody has been answered since `begin`."""
        world = self.world
        world.outages.look()
        return {
            "acks": world.counts["acks"], "violations": world.violations, "outage": world.outages.longest_all,
            "epochs": sorted({app.epoch for app in world.apps if app.epoch}), "counts": dict(world.counts),
        }

    async def begin(self):
        """A new window for outages."""
        self.world.outages.begin()

    async def add(self, gateways, pages):
        """More of it is there."""
        self.world.cluster.add(gateways, pages)

    async def past_a_moment(self):
        """Commits, and commits after the moment that is returned, with the rows of the log then and the apps' epochs."""
        moment, kept, epochs = await commit_past_a_moment(self.world, acknowledged)
        return {"moment": moment, "kept": kept, "epochs": sorted(epochs)}

    async def start_over(self, epochs, within):
        """Waits until every app has another epoch than these, and judges what comes from now on only."""
        await all_start_over(self.world, set(epochs), within)

    async def acknowledged(self, more, within):
        """Waits until so many more commits were acknowledged."""
        await acknowledged(self.world, more, within)


async def acknowledged(world, more, within=60):
    goal = world.counts["acks"] + more
    assert await world.until(f"{more} more acknowledgements", lambda: world.counts["acks"] >= goal, within)


async def serve(visitors):
    """Answers orders until `end` or the end of the input."""
    orders = asyncio.StreamReader(limit=1 << 24)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    while line := await orders.readline():
        name, about = json.loads(line)
        if name == "end":
            return
        say(await getattr(visitors, name)(**about))


ANSWERS = sys.stdout


def say(answer):
    print(json.dumps(answer), file=ANSWERS, flush=True)


async def run(description):
    """Until the end; returns the world."""
    folder = pathlib.Path(description["folder"])
    elsewhere = Elsewhere(folder, description["secret"], description["certificate"], description["conninfo"])
    elsewhere.add(description["gateways"], description["pages"])
    async with running(folder, description["seed"], description["apps"], PAUSE, looks=True, cluster=elsewhere) as world:
        # What others did before is not judged.
        world.history.floors = elsewhere.floors
        say("ready")
        await serve(Visitors(world))
    return world


def main():
    description = json.loads(pathlib.Path(sys.argv[1]).read_text())
    # What else is said is for whoever looks for the reason.
    sys.stdout = sys.stderr
    try:
        world = uvloop.run(run(description))
    except Exception:
        traceback.print_exc()
        return 1
    code, words = judge(pathlib.Path(description["folder"]) / "history.jsonl")
    say({"code": code, "words": words, "violations": world.violations, "counts": dict(world.counts)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
