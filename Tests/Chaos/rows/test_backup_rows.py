"""A backup of a primary with a standby, restored under the running pipeline."""

import re

import pytest

from conftest import acknowledged
from drill import all_start_over, block, commit_past_a_moment, make_folder, restore, run
from postgres import SETTINGS, Pair


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
            await run(block("Back up"), "touchsync", DATABASE=server.dsn("postgres"), BACKUPS=str(backups))
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
