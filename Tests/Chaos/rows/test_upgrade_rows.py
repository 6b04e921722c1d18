"""Daemons of the last release beside the present ones."""

import os
import pathlib
import signal
import subprocess

import pytest

from conftest import acknowledged
from daemons import PROGRAMS, STAGES


@pytest.fixture(scope="session")
def earlier():
    """The folder of the last release's daemons, which are built if need be."""
    script = pathlib.Path(__file__).parent.parent / "earlier.sh"
    configuration = "release" if PROGRAMS.resolve().name == "release" else "debug"
    done = subprocess.run([script, configuration], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        pytest.fail("THE DAEMONS OF THE LAST RELEASE CANNOT BE BUILT")
    folder = pathlib.Path(done.stdout.strip())
    for stage in STAGES:
        assert os.access(folder / f"touchsync-{stage}", os.X_OK), f"{folder} has no touchsync-{stage}"
    return folder


async def replace(world, daemon, programs):
    """Ends a daemon in order and starts it from other programs, while everybody commits."""
    daemon.programs = programs
    lives = len(daemon.codes)
    daemon.send(signal.SIGTERM)
    assert await world.until(f"{daemon.name} has ended", lambda: len(daemon.codes) > lives, 15.5)
    assert set(daemon.codes) == {0}, (daemon.name, daemon.codes, daemon.tail())
    await world.cluster.is_ready()
    await acknowledged(world, 20)


@pytest.mark.timeout(600, func_only=True)
@pytest.mark.long("GoldenTests and GreetingTests have the bytes of earlier releases")
def test_daemons_of_two_releases(row, earlier):
    """Everything is replaced by the present release while apps commit, and by the last one again. Before each of the
    two, one daemon of each stage in turn is of the other release than all the rest."""

    async def one_stranger_at_a_time(world, usual, other):
        for stage in STAGES:
            daemon = world.cluster.daemons[f"{stage}-1"]
            await replace(world, daemon, other)
            await replace(world, daemon, usual)

    async def roll(world, programs):
        # Those who are sent to before those who send to them.
        for stage in reversed(STAGES):
            for daemon in world.cluster.of(stage):
                await replace(world, daemon, programs)

    async def play():
        async with row.world(pause=0.1, programs=earlier) as world:
            await acknowledged(world, 40)
            await one_stranger_at_a_time(world, earlier, PROGRAMS)
            await roll(world, PROGRAMS)
            await one_stranger_at_a_time(world, PROGRAMS, earlier)
            await roll(world, earlier)
            # No numbered commit was refused for good, but for what it asked for: elements that exist already, that never
            # existed or that somebody deleted; and an undo that others' work blocks.
            refused = {name.removeprefix("refused.") for name in world.counts if name.startswith("refused.")}
            moment = {"unavailable", "busy", "gap", "session_expired"}
            assert refused <= {"conflict", "not_found", "gone"} | moment, refused

    row.run(play())
