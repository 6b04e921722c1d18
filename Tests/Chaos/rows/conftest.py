"""Worlds for the rows: small ones, each with a cluster and a history of its own."""

import asyncio
import contextlib
import os
import pathlib
import sys

import pytest
import uvloop

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from cluster import keep_evidence, temporary_folder  # noqa: E402
from scene import judge, running  # noqa: E402


class Row:
    """Runs one row: `await row.world(…)` inside the coroutine that is given to `row.run`."""

    def __init__(self, folder, seed):
        self.folder = folder
        self.seed = seed

    def run(self, coroutine):
        """Runs it, then judges the history that it made; of a row that fails, history and logs are kept."""
        try:
            uvloop.run(coroutine)
            code, words = judge(self.folder / "history.jsonl")
            assert code == 0, words
        except BaseException:
            print(f"the history and the logs are in {keep_evidence(self.folder)}")
            raise

    @contextlib.asynccontextmanager
    async def world(self, apps=20, pause=0.3, **options):
        """A small world; at the end nobody saw what should not be, and no daemon fell over by itself."""
        options.setdefault("is_keyed", bool(os.environ.get("CHAOS_KEYS")))
        async with running(self.folder, self.seed, apps, pause, **options) as world:
            yield world
        crashes = [crash for daemon in world.cluster.daemons.values() for crash in daemon.crashes]
        assert not world.violations and not crashes and not world.figures.excesses(), (world.violations, crashes)


@pytest.fixture
def row():
    with temporary_folder() as folder:
        yield Row(folder, 7)


async def acknowledged(world, more, within=20):
    """Waits until so many more commits were acknowledged."""
    goal = world.counts["acks"] + more
    assert await world.until(f"{more} more acknowledgements", lambda: world.counts["acks"] >= goal, within)


async def metric(world, stage, name, label=""):
    """A counter over all daemons of a stage, now."""
    await world.figures.look()
    return world.figures.total(f"touchsync_{stage}_{name}", label)


async def eventually(what, condition, within=15):
    """Waits for a condition that is asked for asynchronously."""
    for _ in range(int(within / 0.1)):
        if await condition():
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"not within {within} s: {what}")


async def counted(world, stage, name, label=""):
    """A counter of a stage is above zero, as soon as its daemons have published it."""

    async def is_counted():
        return await metric(world, stage, name, label) > 0

    await eventually(f"{name} of the {stage} is above zero", is_counted)
