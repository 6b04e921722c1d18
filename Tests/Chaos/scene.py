"""A world from its start to its judgement."""

import asyncio
import contextlib
import subprocess

from cluster import Cluster
from daemons import PROGRAMS
from history import History
from world import World


@contextlib.asynccontextmanager
async def running(folder, seed, clients, pause, slow_joiners=0, looks=False, people=0, cluster=None, followers=False,
                  **options):
    """A cluster with apps at work. What is wrong at the end of the block is healed, everything settles, and the
    history is complete when it is left, with what apps see of parts of the canvas and of each other if `looks`. `people`
    users of each client library take part, and with `followers` back ends that read; `options` are those of `Cluster`, unless another one takes its place."""
    cluster = cluster or Cluster(folder, **options)
    history = History(folder / "history.jsonl")
    world = None
    try:
        await cluster.start()
        world = World(cluster, history, seed, clients, pause, slow_joiners, people, followers)
        await world.populate()
        yield world
        cluster.heal()
        history.add("heal")
        await world.settle(looks)
        history.add("quiet")
        await world.figures.look()
        await history.dump(cluster.postgres.primary)
        await world.persons.testify(cluster.postgres.primary)
        await world.leave()
    except BaseException:
        if world:
            print("\n".join(f"VIOLATION: {text}" for text in world.violations))
        raise
    finally:
        if world:
            await _to_its_end(world.persons.end())
        await _to_its_end(cluster.stop())
        history.close()


async def _to_its_end(coroutine):
    """Even when we are told to stop."""
    task = asyncio.ensure_future(coroutine)
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    task.result()


def judge(history, required=()):
    """The checker's exit code and words on a history: 0 when nothing is violated."""
    command = [str(PROGRAMS / "history-check"), str(history)]
    if required:
        command += ["--require", *required]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        return 66, f"{command[0]} is missing, nobody judges the history\n"
    return done.returncode, done.stdout + done.stderr
