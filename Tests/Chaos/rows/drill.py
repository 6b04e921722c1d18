"""Backup and restore by the commands of deploy/POSTGRESQL.md, as they stand there."""

import asyncio
import os
import pathlib
import re
import shutil
import subprocess

from pages import blocks
from postgres import binaries, unprivileged

PAGE = pathlib.Path(__file__).parents[3] / "deploy/POSTGRESQL.md"


def block(heading, language="bash"):
    """The commands or settings of a section."""
    return blocks(PAGE, heading, language)[0]


async def run(script, user, **variables):
    """Runs commands of the page as an operator would: as the servers' owner, who connects as `user`, until one fails."""
    environment = {**os.environ, **variables, "PATH": f"{binaries()}:{os.environ['PATH']}", "PGUSER": user}
    done = await asyncio.to_thread(
        subprocess.run, ["bash", "-eu"], input=script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/",
        env=environment, timeout=60, **unprivileged())
    log = pathlib.Path(variables["BACKUPS"]) / "restore.log"
    assert done.returncode == 0, done.stdout + (log.read_text() if log.exists() else "")
    return done.stdout


def make_folder(folder):
    """The folder of backups."""
    (folder / "wal").mkdir(parents=True)
    for path in (folder, folder / "wal"):
        if os.geteuid() == 0:
            shutil.chown(path, "postgres", "postgres")
    return folder


async def restore(server, user, backups, moment, kept):
    """Restores a moment at which the log had that many rows."""
    words = await run(
        block("Restore a moment"), user, DATA=str(server.data), BACKUPS=str(backups), MOMENT=moment)
    assert re.search(rf"^ +{kept} \|", words, re.MULTILINE), words


async def commit_past_a_moment(world, acknowledged):
    """Commits, and commits again; returns the moment between, the rows of the log then, and the apps' epochs."""
    await acknowledged(world, 40)
    await world.calm()
    query = "select clock_timestamp()::text, (select count(*) from commit_log)"
    [(moment, kept)] = await world.cluster.postgres.primary.rows(query)
    world.is_calm = False
    await acknowledged(world, 40)
    await world.calm()
    return moment, kept, {app.epoch for app in world.apps}


async def all_start_over(world, epochs, within=30):
    """Waits until every app has been told of another history; what is judged begins there."""
    told = "every app is told of another history"
    assert await world.until(told, lambda: all(app.is_joined and app.epoch not in epochs for app in world.apps), within)
    await world.begin_anew()
