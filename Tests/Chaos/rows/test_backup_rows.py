"""A backup of a primary with a standby, restored under the running pipeline."""

import asyncio
import re

import pytest

from conftest import acknowledged
from drill import all_start_over, block, commit_past_a_moment, make_folder, restore, run
from postgres import SETTINGS, Pair


def cleaned(backups):
    """Whether the archive has nothing that no copy needs; segments are named in order."""
    oldest = min(backups.glob("base-*"))
    needed = re.search(r"START WAL LOCATION: .*\(file (\w+)\)", (oldest / "backup_label").read_text())[1]
    segments = [path.name for path in (backups / "wal").iterdir() if re.fullmatch("[0-9A-F]{24}", path.name)]
    return segments and min(segments) >= needed


@pytest.mark.long("an older backup is restored from a dump, as another cluster")
def test_a_moment_is_restored_under_the_running_pipeline(row):
    """Exactly what was committed before that moment is there; no daemon is restarted, and no app keeps anything of what
    came after."""
    backups = make_folder(row.folder / "backups")
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
            for heading in ["Back up", *["Copy each night"] * 9]:
                await run(block(heading), "touchsync", DATABASE=server.dsn("postgres"), BACKUPS=str(backups))
                await asyncio.sleep(1)
            kept_copies = sorted(path.name for path in backups.glob("base*"))
            assert len(kept_copies) == 8 and kept_copies[0] == "base", kept_copies
            assert cleaned(backups), "the log before the oldest copy is still there"
            moment, kept, epochs = await commit_past_a_moment(world, acknowledged)
            starts = [daemon.starts for daemon in world.cluster.daemons.values()]
            await pair.stop()
            await restore(server, "touchsync", backups, moment, kept)
            server.start()
            await pair.build_standby()
            await all_start_over(world, epochs)
            await acknowledged(world, 40)
            assert [daemon.starts for daemon in world.cluster.daemons.values()] == starts, "a daemon was restarted"

    row.run(play())
