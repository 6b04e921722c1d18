"""A database of three machines whose primary Patroni chooses, by the files of deploy/patroni, under load."""

import asyncio
import shutil
import subprocess
import time

import pytest

from conftest import acknowledged
from drill import all_start_over, block, commit_past_a_moment, make_folder, restore, run
from patroni import PASSWORD, REPOSITORY, machines


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
            # Who was cut off has been primary before, and comes back to another one that holds the lock.
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


@pytest.mark.long("an older backup is restored from a dump, and standbys are promoted by hand")
@pytest.mark.timeout(600)
def test_a_moment_is_restored_on_all_machines(row, trio):
    """All three machines are lost; the primary's is restored, and Patroni makes a new cluster of it."""
    backups = make_folder(row.folder / "backups")

    async def play():
        async with row.world(postgres=trio) as world:
            await acknowledged(world, 20)
            restored, *others = sorted(trio.members, key=lambda member: member is not trio.primary)
            await run(
                block("Back up"), "replicator", DATABASE=f"host={restored.host.address} password='{PASSWORD}'",
                BACKUPS=str(backups))
            moment, kept, epochs = await commit_past_a_moment(world, acknowledged)
            for member in trio.members:
                member.kill()
            await restore(restored, "postgres", backups, moment, kept)
            for member in others:
                shutil.rmtree(member.data)
            for member in trio.members:
                member.start(has_patroni=False)
            await forget_the_former_cluster(trio)
            for member in (restored, *others):
                member.kill()
                member.start()
                while not await restored.is_primary():
                    await asyncio.sleep(0.2)
            await trio.is_whole()
            await all_start_over(world, epochs)
            await acknowledged(world, 40)

    row.run(play())


async def forget_the_former_cluster(trio):
    """As the page says: once etcd knows of no member any more."""
    while True:
        words = await asyncio.to_thread(trio.patronictl("list").communicate)
        if "| postgres-" not in words[0] and "| Member |" in words[0]:
            break
        await asyncio.sleep(1)
    words = await asyncio.to_thread(trio.patronictl("remove", "touchsync").communicate, "touchsync\nYes I am aware\n")
    assert "Aborted" not in words[0], words[0]
