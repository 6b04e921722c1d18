"""A backup by the commands of deploy/POSTGRESQL.md, as they stand there."""

import asyncio
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import acknowledged
from postgres import SETTINGS, Pair, unprivileged

PAGE = (pathlib.Path(__file__).parents[3] / "deploy/POSTGRESQL.md").read_text()


def block(heading, language):
    """The commands or settings of a section."""
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]
    return re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)[1]


async def run(script, server, **variables):
    """Runs commands of the page as an operator would: as the server's user, until one of them fails."""
    # The harness made the cluster with a name of its own for its superuser.
    environment = {**os.environ, **variables, "PATH": f"{server.programs}:{os.environ['PATH']}", "PGUSER": "touchsync"}
    done = await asyncio.to_thread(
        subprocess.run, ["bash", "-eu"], input=script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/",
        env=environment, timeout=60, **unprivileged())
    log = pathlib.Path(variables["BACKUPS"]) / "restore.log"
    assert done.returncode == 0, done.stdout + (log.read_text() if log.exists() else "")
    return done.stdout


@pytest.fixture
def backups(row):
    folder = row.folder / "backups"
    (folder / "wal").mkdir(parents=True)
    for path in (folder, folder / "wal"):
        if os.geteuid() == 0:
            shutil.chown(path, "postgres", "postgres")
    return folder


@pytest.mark.long("an older backup is restored from a dump, as another cluster")
def test_a_moment_is_restored_under_the_running_pipeline(row, backups):
    """Exactly what was committed before that moment is there; no daemon is restarted, and no app keeps anything of what
    came after."""
    settings = dict(
        re.fullmatch(r"(\w+) = '?(.*?)'?", line).groups()
        for line in block("Back up", "ini").replace("BACKUPS", str(backups)).splitlines())
    pair = Pair(row.folder, **settings)

    async def play():
        async with row.world(postgres=pair) as world:
            await acknowledged(world, 20)
            server = pair.primary
            # What the harness says on the command line is in the files of any other server.
            with open(server.data / "postgresql.conf", "a") as file:
                file.writelines(f"{name} = '{value}'\n" for name, value in SETTINGS.items())
            await run(block("Back up", "bash"), server, DATABASE=server.dsn("postgres"), BACKUPS=str(backups))
            await acknowledged(world, 40)
            await world.calm()
            [(moment, kept)] = await server.rows("select clock_timestamp()::text, (select count(*) from commit_log)")
            world.is_calm = False
            await acknowledged(world, 40)
            await world.calm()
            epochs = {app.epoch for app in world.apps}
            starts = [daemon.starts for daemon in world.cluster.daemons.values()]
            await pair.stop()
            words = await run(
                block("Restore a moment", "bash"), server, DATA=str(server.data), BACKUPS=str(backups), MOMENT=moment)
            assert re.search(rf"^ +{kept} \|", words, re.MULTILINE), words
            server.start()
            await pair.build_standby()
            told = "every app is told of another history"
            assert await world.until(
                told, lambda: all(app.is_joined and app.epoch not in epochs for app in world.apps), 30)
            await world.begin_anew()
            await acknowledged(world, 40)
            assert [daemon.starts for daemon in world.cluster.daemons.values()] == starts, "a daemon was restarted"

    row.run(play())
