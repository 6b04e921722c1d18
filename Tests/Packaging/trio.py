"""Three machines on one wire: two that serve apps, and a third one that votes and watches."""

import contextlib
import re
import secrets
import shlex

import operators
from machine import Machine
from pipeline import eventually
from wire import Wire

STAGES = ["gateway", "coalescer", "committer", "fanout"]
# Of this wire alone; the pages' examples are in 10.0.0.
NETWORK = "10.213.8"
BACKUPS = "/srv/backups"


class Trio:
    """The machines 1, 2 and 3, up to their power; `backups` is a folder that the first two share."""

    def __init__(self, backups):
        self.backups = backups
        # Of the daemons' role, of the databases' own, of the gateways, and of the operators.
        self.password, self.databases, self.secret = (secrets.token_hex(24) for _ in range(3))
        self.ops = operators.TOKEN
        self.stack = contextlib.ExitStack()
        # By its number.
        self.machines = {}

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.wire = stack.enter_context(Wire("ts-trio", NETWORK))
            for number in (1, 2, 3):
                mounts = {BACKUPS: self.backups} if number < 3 else {}
                machine = Machine("bare", self.wire.end(number), mounts)
                self.machines[number] = stack.enter_context(machine)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *failure):
        self.stack.close()

    @property
    def pair(self):
        """The two that serve apps."""
        return {number: self.machines[number] for number in (1, 2)}

    def run(self, number, script, check=True, user="root", **variables):
        """Runs a block on a machine, until a command of it fails."""
        usual = {
            "M": number, "PASSWORD": self.password, "DATABASES": self.databases, "SECRET": self.secret, "OPS": self.ops,
            "BACKUPS": BACKUPS}
        words = [f"{name}={value}" for name, value in (usual | variables).items()]
        if user == "root":
            return self.machines[number].run("\n".join(["set -eu", "export " + shlex.join(words), script]), check, within=300)
        words = ["runuser", "-u", user, "--", "env", *words, "PATH=/usr/lib/postgresql/15/bin:/usr/bin:/bin"]
        return self.machines[number].run("cd /; " + shlex.join([*words, "bash", "-euc", script]), check, within=300)

    def power_off(self, number):
        """A machine is gone: nothing of it reaches anybody, not even the end of its connections."""
        self.wire.cut(number)
        self.machines[number].power_off()

    def power_on(self, number):
        self.wire.mend(number)
        self.machines[number].boot()

    @staticmethod
    def machine_of(instance):
        """Odd ones are on the first."""
        return 2 - instance % 2

    def gateways(self, instances):
        """Where apps connect: second instances have ports of their own."""
        return [(self.wire.address(self.machine_of(instance)), 8080 if instance < 3 else 8082) for instance in instances]

    def pages(self, instances):
        """The addresses of daemons' own pages by name."""
        return {
            f"{stage}-{instance}": f"http://{self.wire.address(self.machine_of(instance))}:94{digit}{instance}"
            for instance in instances for digit, stage in enumerate(STAGES, start=1)}

    def units(self, number, instances):
        """The units of those instances that are on a machine."""
        return [f"touchsync-{stage}@{instance}" for instance in instances if self.machine_of(instance) == number for stage in STAGES]

    def properties(self, name, instances):
        """A property of each unit, by machine and unit."""
        return {
            (number, unit): machine.property(unit, name)
            for number, machine in self.pair.items() for unit in self.units(number, instances)}

    def roles(self):
        """What Patroni says of its members: their roles by machine."""
        for machine in self.pair.values():
            listed = machine.run("patronictl -c /etc/patroni/config.yml list", check=False).stdout
            # One that hangs has an empty list.
            if found := re.findall(r"^\| postgres-(\d) +\| [\d.]+ +\| ([\w ]+?) +\| (running|streaming)", listed, re.MULTILINE):
                return {int(number): role for number, role, _ in found}
        return {}

    def leader(self):
        """The machine of the primary; None while there is none."""
        return next((number for number, role in self.roles().items() if role == "Leader"), None)

    def wait_for_standby(self, within=120):
        """Waits until commits are on two machines."""
        eventually(
            "a leader and a sync standby", lambda: sorted(self.roles().values()) == ["Leader", "Sync Standby"], within=within)

    @property
    def conninfo(self):
        """How to reach the database that accepts writes."""
        return (f"host={self.wire.address(1)},{self.wire.address(2)} user=touchsync password={self.password}"
                " sslmode=require target_session_attrs=read-write tcp_user_timeout=3000")
