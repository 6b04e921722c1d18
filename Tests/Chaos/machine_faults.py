"""Faults of machines and of the network between them. Packets vanish: nobody gets an answer, not even a refusal."""

import asyncio
import signal

from daemons import STAGES
from faults import Fault

# Silence after which a link is taken for lost is 2.5 s; an app that hears nothing goes elsewhere after 6 s.
SHORT, LONG = (0.5, 2.0), (4, 8)
# Gateways repeat a commit after 1, 3 and 7 s, and sooner when a link falls silent, which is noticed after 3 s at most: by
# the third repetition everybody knows who is there. A silent database costs a committer its deadline of 5 s, and a second
# until it rests.
BY_LINKS, BY_DATABASE = 8.0, 9.0


def some_machine(world):
    """One of those for daemons."""
    machines = world.cluster.machines
    return world.random.choice(machines.all[: machines.count])


def on(machine, world):
    """The daemons of a machine."""
    return [daemon for daemon in world.cluster.daemons.values() if world.cluster.place(daemon.name).machine is machine]


def cut_off(world, names):
    """Says which gateways a fault takes from their apps."""
    cluster = world.cluster
    for name in names:
        if name.startswith("gateway"):
            world.outages.cut_off |= {cluster.address(name), ("127.0.0.1", cluster.proxies["app", name].port)}


class MachineCut(Fault):
    """The network interface of a machine is down for a while: a part of every stage runs on, alone."""

    kills = True
    is_main = True
    answers_within = BY_LINKS

    def __init__(self, name, seconds):
        self.name = name
        self.seconds = seconds

    async def strike(self, world):
        machine = some_machine(world)
        cut_off(world, [daemon.name for daemon in on(machine, world)])
        machine.cut()
        await asyncio.sleep(world.random.uniform(*self.seconds))
        machine.restore()


class MachineWithoutPower(Fault):
    """A machine goes off with a part of every stage, without a farewell, and boots later."""

    name = "machine-off"
    kills = True
    answers_within = BY_LINKS
    is_main = True

    async def strike(self, world):
        machine = some_machine(world)
        # First the network: no end of a connection may be seen outside.
        machine.cut()
        daemons = on(machine, world)
        cut_off(world, [daemon.name for daemon in daemons])
        for daemon in daemons:
            daemon.has_power.clear()
            daemon.send(signal.SIGKILL)
        await asyncio.sleep(world.random.uniform(*LONG))
        machine.restore()
        for daemon in daemons:
            daemon.has_power.set()


class CommitterWithoutDatabase(Fault):
    """A committer is cut off from the database in the midst of a transaction, but not from other daemons."""

    name = "committer-without-database"
    kills = True
    answers_within = BY_DATABASE
    is_main = True

    async def strike(self, world):
        cluster = world.cluster
        victim = world.random.choice(cluster.of("committer"))
        async with world.open_transactions(victim.name):
            cluster.machines.block([victim.name], [server.name for server in cluster.postgres.servers])
        await asyncio.sleep(world.random.uniform(*LONG))
        cluster.machines.restore()


class CutFromOtherStages(Fault):
    """Half of a stage is cut off from the daemons of all other stages, but not from the database."""

    kills = True
    is_main = True
    answers_within = BY_LINKS

    def __init__(self, stage):
        self.stage = stage
        self.name = f"{stage}-without-others"

    async def strike(self, world):
        cluster = world.cluster
        stage = [daemon.name for daemon in cluster.of(self.stage)]
        others = [name for name in cluster.daemons if name not in stage]
        victims = world.random.sample(stage, max(1, len(stage) // 2))
        cut_off(world, victims)
        cluster.machines.block(victims, others)
        await asyncio.sleep(world.random.uniform(*LONG))
        cluster.machines.restore()


class PrimaryWithoutPower(Fault):
    """The primary's machine goes off; the standby takes over while the address of the old one stays silent."""

    name = "primary-off"
    is_main = True

    async def strike(self, world):
        postgres = world.cluster.postgres
        async with world.open_transactions():
            machine = postgres.primary.place.machine
            machine.cut()
            await postgres.fail_over()
            # As a cluster manager does as soon as there is nobody to wait for.
            postgres.primary.set_late(synchronous_standby_names="")
        await asyncio.sleep(world.random.uniform(*LONG))
        machine.restore()
        await postgres.standby.copy(postgres.primary)
        postgres.standby.set_late(synchronous_standby_names="*")
        postgres.start_standby()
        postgres.primary.set_late(synchronous_standby_names="*")


class StandbyCut(Fault):
    """The network of the standby's machine is down for a while: COMMITs wait."""

    name = "standby-cut"

    async def strike(self, world):
        machine = world.cluster.postgres.standby.place.machine
        machine.cut()
        await asyncio.sleep(world.random.uniform(*LONG))
        machine.restore()


MACHINES = [
    MachineCut("machine-cut-short", SHORT), MachineCut("machine-cut-long", LONG), MachineWithoutPower(),
    CommitterWithoutDatabase(), *(CutFromOtherStages(stage) for stage in STAGES), PrimaryWithoutPower(), StandbyCut(),
]
