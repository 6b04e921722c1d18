"""A database of three machines whose primary Patroni chooses, by the files of deploy/patroni, under load."""

import asyncio
import subprocess
import time

import pytest

from conftest import acknowledged
from patroni import REPOSITORY, machines


@pytest.fixture
def trio(row):
    """Three machines; makes sure that Debian's packages are there."""
    subprocess.run([REPOSITORY / "deploy/install.sh", "patroni", "etcd-server"], check=True)
    with machines(row.folder) as trio:
        yield trio


async def switch_over(world, trio, since):
    """The operator asks for another primary."""
    old = trio.primary
    command = trio.patronictl("switchover", "--force")
    took = await trio.writes_again(old, since)
    words = await asyncio.to_thread(command.communicate)
    assert "Successfully switched over" in words[0], words[0]
    return took, lambda: None


async def lose_power(world, trio, since):
    """The primary's machine is gone in the middle of a transaction: PostgreSQL, Patroni and etcd by SIGKILL."""
    old = trio.primary
    async with world.open_transactions():
        old.kill()
    return await trio.writes_again(old, since), old.start


async def cut_off(world, trio, since):
    """The primary runs on, but nobody reaches it, and it reaches nobody."""
    old = trio.primary
    old.host.cut()
    return await trio.writes_again(old, since), old.host.restore


@pytest.mark.long("the rows of the database have a synchronous standby that they promote by hand")
@pytest.mark.timeout(900)
def test_patroni_changes_the_primary_and_nothing_is_lost(row, trio):
    """Every acknowledged commit is in the log of the last primary (the judge compares), nobody has to reload a room, and
    apps wait hardly longer than PostgreSQL itself does."""

    async def play():
        async with row.world(apps=20, people=1, postgres=trio) as world:
            await acknowledged(world, 100)
            epochs = {app.epoch for app in world.apps}
            # The cut one twice: it was primary before, and comes back to another one.
            for strike in (switch_over, lose_power, cut_off, switch_over, cut_off):
                world.outages.begin()
                took, heal = await strike(world, trio, time.monotonic())
                await acknowledged(world, 100)
                outage = world.outages.longest_all
                print(f"{strike.__name__}: PostgreSQL commits after {took:.1f} s, apps waited {outage:.1f} s")
                assert outage < took + 10, (strike.__name__, took, outage)
                heal()
                await trio.is_whole()
                await acknowledged(world, 40)
            assert {app.epoch for app in world.apps} == epochs

    row.run(play())
