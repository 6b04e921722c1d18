"""Three database machines: network namespaces with etcd, Patroni and PostgreSQL, by the files of deploy/patroni."""

import asyncio
import contextlib
import json
import shutil
import subprocess
import time
import urllib.request

import psycopg

from machines import REPOSITORY, hosts
from postgres import Asked, binaries

DEPLOY = REPOSITORY / "deploy/patroni"
PASSWORD = "of the tests"


class Member(Asked):
    """One machine. It has processes of its own: when its first one is killed, the kernel kills all of them."""

    def __init__(self, folder, number, all_hosts):
        self.name = f"postgres-{number + 1}"
        self.host = all_hosts[number]
        self.folder = folder / self.name
        self.log = self.folder / "log"
        self.data = self.folder / "15/touchsync"
        self.process = None
        self.starts = 0
        self.folder.mkdir(mode=0o755)
        # The example's addresses and places, and those of the test.
        places = {f"10.0.0.{11 + index}": host.address for index, host in enumerate(all_hosts)}
        # What only this machine says of itself is written down of the first one.
        own = {"listen: 10.0.0.11": f"listen: {self.host.address}", "address: 10.0.0.11": f"address: {self.host.address}",
               "name: postgres-1": f"name: {self.name}"}
        network = self.host.address.rpartition(".")[0] + ".0/24"
        folders = {"10.0.0.0/24": network, "/var/lib/postgresql": str(self.folder), "/run/postgresql": str(self.folder),
                   "/usr/lib/postgresql/15/bin": str(binaries())}
        self._write("config.yml", {**own, **places, **folders})
        own = {f"URLS=http://10.0.0.11:{port}": f"URLS=http://{self.host.address}:{port}" for port in (2379, 2380)}
        own["ETCD_NAME=postgres-1"] = f"ETCD_NAME={self.name}"
        self._write("etcd", {**own, **places, "/var/lib/etcd": str(self.folder)})
        for path in (self.folder, self.folder / "config.yml"):
            shutil.chown(path, "postgres", "postgres")

    def _write(self, name, replacements):
        text = (DEPLOY / name).read_text()
        for example, present in replacements.items():
            assert example in text, (name, example)
            text = text.replace(example, present)
        (self.folder / name).write_text(text)

    def start(self, has_patroni=True):
        """Boots it; without Patroni only etcd runs."""
        self.starts += 1
        # As after a boot, the number of a former process is hardly that of another one.
        script = f"""
            echo {self.starts * 5000} >/proc/sys/kernel/ns_last_pid
            as_postgres="setpriv --reuid=postgres --regid=postgres --clear-groups --"
            (set -a; . {self.folder}/etcd; exec $as_postgres etcd) &
            export PATRONI_SUPERUSER_PASSWORD='{PASSWORD}' PATRONI_REPLICATION_PASSWORD='{PASSWORD}'
            export PATRONI_REWIND_PASSWORD='{PASSWORD}'
            cd {self.folder}
            {"$as_postgres patroni config.yml &" if has_patroni else ""}
            wait
        """
        with open(self.log, "ab") as log:
            self.process = self.host.run(
                "unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-c", script,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=hosts.network.end_with_parent,
            )

    def kill(self):
        """The machine loses its power."""
        self.process.kill()
        self.process.wait()

    def dsn(self, database="touchsync", name="harness"):
        user = "touchsync" if database == "touchsync" else "postgres"
        return (f"host={self.host.address} user={user} password='{PASSWORD}' dbname={database} application_name={name}"
                " tcp_user_timeout=3000")

    async def roles(self):
        """What its Patroni knows of all members: their roles, and that they run; none when it does not answer."""

        def ask():
            with contextlib.suppress(OSError, ValueError):
                with urllib.request.urlopen(f"http://{self.host.address}:8008/cluster", timeout=1) as answer:
                    return json.load(answer)["members"]
            return []

        members = await asyncio.to_thread(ask)
        return sorted(member["role"] for member in members if member["state"] in ("running", "streaming"))

    async def is_primary(self):
        with contextlib.suppress(psycopg.Error, TimeoutError):
            return not (await asyncio.wait_for(self.rows("select pg_is_in_recovery()", database="postgres"), 2))[0][0]
        return False


class Trio:
    """Three members, of which Patroni makes one the primary and one its synchronous standby."""

    has_standby = True

    def __init__(self, folder, all_hosts):
        self.servers = []
        self.members = [Member(folder, number, all_hosts) for number in range(3)]
        self.primary = self.members[0]
        addresses = ",".join(member.host.address for member in self.members)
        secret = PASSWORD.replace(" ", "%20")
        self.url = f"postgresql://touchsync:{secret}@{addresses}/touchsync?connect_timeout=2"

    async def start(self):
        for member in self.members:
            member.start()
        await self.is_whole()
        for statement in (
            f"create role touchsync login password '{PASSWORD}'", "create database touchsync owner touchsync",
        ):
            await self.primary.rows(statement, database="postgres")
        await self.primary.rows("create table probes (at timestamptz)")
        await self.primary.rows("insert into probes values (now())")

    async def find_primary(self, but=None):
        """The member that accepts writes; none while there is none."""
        found = [member for member in self.members if member is not but and await member.is_primary()]
        if len(found) == 1:
            self.primary = found[0]
            return self.primary
        return None

    async def is_whole(self, within=120):
        """Waits until there is a primary with two standbys that are up to date, one of which its COMMITs wait for."""
        end = time.monotonic() + within
        while time.monotonic() < end:
            with contextlib.suppress(psycopg.Error):
                if await self.find_primary():
                    query = "select sync_state from pg_stat_replication where state = 'streaming' order by 1"
                    states = await self.primary.rows(query, database="postgres")
                    roles = await self.primary.roles()
                    if (states, roles) == ([("async",), ("sync",)], ["leader", "replica", "sync_standby"]):
                        return
            await asyncio.sleep(0.2)
        raise AssertionError("the cluster is not whole:\n" + "\n".join(member.tail() for member in self.members))

    is_synchronous = is_whole

    async def writes_again(self, but, since, within=90):
        """Waits until another member than `but` confirms a COMMIT; returns the seconds since then."""
        while time.monotonic() < since + within:
            for member in self.members:
                if member is but or not await member.is_primary():
                    continue
                with contextlib.suppress(psycopg.Error, TimeoutError):
                    await asyncio.wait_for(member.rows("update probes set at = clock_timestamp()"), 2)
                    took = time.monotonic() - since
                    self.primary = member
                    return took
            await asyncio.sleep(0.05)
        raise AssertionError("no new primary:\n" + "\n".join(member.tail() for member in self.members))

    def patronictl(self, *arguments):
        """Starts the operator's command on the primary's machine."""
        return self.primary.host.run(
            "patronictl", "-c", str(self.primary.folder / "config.yml"), *arguments,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    async def stop(self):
        for member in self.members:
            if member.process:
                member.kill()


@contextlib.contextmanager
def machines(folder):
    """Three machines that are not started yet, for the length of a block."""
    with hosts.hosts(3) as all_hosts:
        yield Trio(folder, all_hosts)
