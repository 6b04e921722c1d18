"""Their operator, who runs the commands of deploy/MACHINES.md as they stand there."""

import concurrent.futures
import json
import time

from manager import REPOSITORY
from pages import blocks
from pipeline import eventually
from trio import NETWORK

DEPLOY = REPOSITORY / "deploy"
DATA = "/var/lib/postgresql/15/touchsync"
# Apps of the tests come from one address, and notice within seconds that a machine is gone.
SETTINGS = {
    "gateway": {
        "pingIntervalMs": 2000, "pingTimeoutMs": 4000, "maxConnectionsPerAddress": 10000,
        "addressConnectionsPerSecond": 10000, "commitsPerSecond": 1000, "commitBurst": 1000,
    },
    "fanout": {"roomIdleMs": 2000},
}


def here(text):
    """A text of the examples with the addresses of these machines, also where they are patterns."""
    return text.replace("10.0.0", NETWORK).replace(r"10\.0\.0", NETWORK.replace(".", r"\."))


def commands(page, heading):
    """The blocks of a section, for these machines."""
    return [here(block) for block in blocks(DEPLOY / page, heading)]


class Operator:
    """Works on three machines. What it does between the pages' commands is what they say in words."""

    def __init__(self, trio):
        self.trio = trio
        self.run = trio.run

    def set_up(self, package, version, certificate):
        """Steps 1 to 7: all daemons are ready, and watched."""
        programs, etcd, database, tables, reach, watch = commands("MACHINES.md", "Set them up")

        def install(number):
            self.trio.machines[number].put(package, f"touchsync_{version}_amd64.deb")
            self.run(number, programs, VERSION=version)
            for example in (self.trio.machines[number].root / "usr/share/touchsync/patroni").iterdir():
                example.write_text(here(example.read_text()))
            self.run(number, etcd)

        with concurrent.futures.ThreadPoolExecutor() as pool:
            list(pool.map(install, self.trio.machines))
        self.run(1, database)
        eventually("the first is the leader", lambda: self.trio.leader() == 1, within=60)
        self.run(2, database)
        self.trio.wait_for_standby()
        self.run(1, tables)
        _, keys, same, start = commands("README.md", "Two machines with the package")
        for number in self.trio.pair:
            self.run(number, keys, N=number)
        self.share_peers()
        for number, machine in self.trio.pair.items():
            self.run(number, "install -d -o touchsync -m 700 /etc/touchsync/tls")
            machine.put(certificate.certificate, "fullchain.pem")
            machine.put(certificate.key, "privkey.pem")
            self.run(number, "install -o touchsync -m 600 fullchain.pem privkey.pem /etc/touchsync/tls/")
            self.run(number, same)
            self.run(number, reach)
            self.set_for_tests(machine.root / "etc/touchsync/touchsync.json")
        for number in self.trio.pair:
            self.run(number, start, N=number)
        self.watch(watch, [1, 2])

    @staticmethod
    def set_for_tests(path):
        """What only these apps need, in a settings file."""
        settings = json.loads(path.read_text())
        for stage, values in SETTINGS.items():
            settings[stage] |= values
        path.write_text(json.dumps(settings, indent=2))

    def share_peers(self):
        """The lines of both, each once."""
        lines = {line for machine in self.trio.pair.values() for line in machine.says("cat /etc/touchsync/peers").splitlines()}
        for machine in self.trio.pair.values():
            (machine.root / "etc/touchsync/peers").write_text("\n".join(sorted(lines)) + "\n")

    def watch(self, script, instances):
        """Prometheus watches these instances, and so does the third machine's monitor."""
        self.run(3, script, INSTANCES=" ".join(f"{self.trio.machine_of(instance)}:{instance}" for instance in instances))

    def drop_log(self, number):
        """The primary drops all log that only an absent standby needs; the archive has it."""
        settings = "ALTER SYSTEM SET wal_keep_size = 0; ALTER SYSTEM SET min_wal_size = '32MB'; SELECT pg_reload_conf()"
        sql = lambda text: self.run(number, f'psql -Atc "{text}"', user="postgres").stdout.strip()
        for statement in settings.split("; "):
            sql(statement)
        eventually("nobody else needs it", lambda: sql("SELECT count(*) FROM pg_replication_slots") == "0", within=60)
        first = "SELECT min(name) FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$'"
        before = sql(first)

        def is_dropped():
            sql("SELECT pg_switch_wal()")
            sql("CHECKPOINT")
            return sql(first) > before

        eventually("what it misses is gone", is_dropped, within=60)

    def copy(self):
        """Step 8: a copy of the database, in place of the former one."""
        self.run(1, 'rm -rf "$BACKUPS/base"')
        [script] = blocks(DEPLOY / "POSTGRESQL.md", "Back up")
        hosts = f"{self.trio.wire.address(1)},{self.trio.wire.address(2)}"
        self.run(1, script, user="postgres", DATABASE=f"host={hosts} user=replicator password={self.trio.databases}")

    def double(self):
        """Second instances of all stages on both."""
        start, same = commands("MACHINES.md", "Double each stage")
        _, keys, _, _ = commands("README.md", "Two machines with the package")
        for number in self.trio.pair:
            self.run(number, keys, N=number + 2, MORE=2)
        self.share_peers()
        # Until all daemons have read it.
        time.sleep(3)
        for number in self.trio.pair:
            self.run(number, start)
        for number in self.trio.pair:
            self.run(number, same)
        self.watch(commands("MACHINES.md", "Set them up")[-1], [1, 2, 3, 4])

    def install(self, package, version):
        """The next package on all three."""
        for number, machine in self.trio.machines.items():
            machine.put(package, f"touchsync_{version}_amd64.deb")
            self.run(number, commands("MACHINES.md", "Upgrade them")[0], NEXT=version)

    def migrate(self):
        """What the plan says, and then done."""
        return self.run(self.trio.leader(), commands("MACHINES.md", "Upgrade them")[1]).stdout

    def replace(self):
        """Each daemon in turn, by the next release; yields the stage that is done."""
        for stage in ("fanout", "committer", "coalescer", "gateway"):
            for number in self.trio.pair:
                self.run(number, commands("MACHINES.md", "Upgrade them")[2], STAGE=stage)
            yield stage

    def restore(self, moment):
        """The database as it was then; returns what the operator is shown of it."""
        stop, forget, begin, follow = commands("MACHINES.md", "Restore them")
        [script] = blocks(DEPLOY / "POSTGRESQL.md", "Restore a moment")
        restored = self.trio.leader()
        other = 3 - restored
        self.run(other, stop)
        self.run(restored, stop)
        shown = self.run(restored, script, user="postgres", DATA=DATA, MOMENT=moment).stdout
        self.run(other, forget)
        self.run(restored, begin)
        self.run(other, follow)
        self.trio.wait_for_standby()
        return shown
