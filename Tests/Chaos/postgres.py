"""A primary and its synchronous standby, made with PostgreSQL's own programs under one folder."""

import asyncio
import contextlib
import glob
import os
import pathlib
import shutil
import signal
import subprocess

import psycopg

import ports
from daemons import ended, over
from machines import LOCAL

SETTINGS = {
    "shared_buffers": "64MB",
    "max_connections": "120",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "max_wal_size": "512MB",
    "checkpoint_timeout": "60s",
    "hot_standby": "on",
    "max_wal_senders": "8",
    "wal_keep_size": "256MB",
    "wal_sender_timeout": "5s",
    "wal_receiver_timeout": "5s",
    "wal_receiver_status_interval": "1s",
    "wal_retrieve_retry_interval": "200ms",
    # After a crash one call instead of one fsync for each of a thousand files.
    "recovery_init_sync_method": "syncfs",
    "log_line_prefix": "%m [%p] %a ",
    "log_min_messages": "warning",
}


def binaries():
    """The folder of the newest PostgreSQL, 15 or later."""
    found = {}
    for program in glob.glob("/usr/lib/postgresql/*/bin/postgres"):
        with contextlib.suppress(ValueError):
            found[int(pathlib.Path(program).parts[-3])] = pathlib.Path(program).parent
    assert found and max(found) >= 15, "PostgreSQL 15 or later is needed; deploy/install.sh installs it"
    return found[max(found)]


def unprivileged():
    """What makes a child run as somebody whom PostgreSQL accepts: it refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    return {"user": "postgres", "group": "postgres", "extra_groups": []}


def as_unprivileged():
    """The same, as words before a command."""
    ids = ["--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
    return ["setpriv", *ids]


class Asked:
    """A server that the harness asks, wherever and by whomever it is run. Others say its `dsn` and where its `log` is."""

    # True when it ended by itself.
    has_ended = False

    async def rows(self, query, *parameters, database="touchsync"):
        """The rows of a query; raises `psycopg.Error` when the server is not there."""
        async with await psycopg.AsyncConnection.connect(
            self.dsn(database), autocommit=True, connect_timeout=3
        ) as connection:
            cursor = await connection.execute(query, parameters)
            return await cursor.fetchall() if cursor.description else []

    async def each(self, query, *parameters, database="touchsync"):
        """The rows of a long answer, some at a time: apps that are not served for seconds lose their connections."""
        async with await psycopg.AsyncConnection.connect(self.dsn(database), connect_timeout=3) as connection:
            async with connection.cursor(name="each") as cursor:
                cursor.itersize = 500
                await cursor.execute(query, parameters)
                async for row in cursor:
                    yield row

    async def answers(self, within=60, database="postgres"):
        """Waits until it serves."""
        for _ in range(int(within / 0.05)):
            with contextlib.suppress(psycopg.Error):
                await self.rows("select 1", database=database)
                return
            assert not self.has_ended, f"{self.name} ended:\n{self.tail()}"
            await asyncio.sleep(0.05)
        raise AssertionError(f"{self.name} does not answer:\n{self.tail()}")

    def tail(self):
        with contextlib.suppress(OSError):
            return self.log.read_text(errors="replace")[-2000:]
        return ""


class Server(Asked):
    """One server: its folder, its place, its port, its process."""

    def __init__(self, folder, name, place=LOCAL):
        self.folder = folder / name
        self.place = place
        self.name = name
        self.data = self.folder / "data"
        self.log = self.folder / "log"
        self.port = ports.free()
        self.process = None
        # What the server itself has in its environment besides ours.
        self.environment = {}
        self.programs = binaries()
        self.folder.mkdir(mode=0o755, parents=True)
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")

    def _command(self, program, *arguments):
        return [str(self.programs / program), *map(str, arguments)]

    async def run(self, program, *arguments, within=60):
        """Runs one of PostgreSQL's programs to its end."""
        with open(self.log, "ab") as log:
            child = subprocess.Popen(
                self._command(program, *arguments), stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                **unprivileged(),
            )
        try:
            code = await asyncio.wait_for(ended(child), within)
        finally:
            if child.poll() is None:
                child.kill()
        assert code == 0, f"{program} of {self.name} failed ({code}):\n{self.tail()}"

    async def create(self):
        """A new, empty cluster."""
        await self.run(
            "initdb", "--pgdata", self.data, "--username=touchsync", "--encoding=UTF8", "--locale=C",
            "--auth=trust", "--no-instructions", "--no-sync", "--data-checksums",
        )
        with open(self.data / "postgresql.conf", "a") as settings:
            settings.write("\ninclude_if_exists = 'late.conf'\n")
        if self.place is not LOCAL:
            with open(self.data / "pg_hba.conf", "a") as rules:
                rules.write(f"\nhost all,replication all {self.place.machine.network}.0/24 trust\n")

    def set_late(self, **settings):
        """Settings that can change while it runs; a standby made from it has them too."""
        (self.data / "late.conf").write_text("".join(f"{name} = '{value}'\n" for name, value in settings.items()))
        (self.data / "late.conf").chmod(0o644)
        if self.is_running:
            self.process.send_signal(signal.SIGHUP)

    async def copy(self, primary):
        """A new standby of a running primary, in place of whatever was here."""
        await self.stop(signal.SIGQUIT)
        shutil.rmtree(self.data, ignore_errors=True)
        await self.run(
            "pg_basebackup", "--pgdata", self.data, "--dbname", primary.dsn("postgres", self.name),
            "--checkpoint=fast", "--wal-method=stream", "--no-sync",
        )
        (self.data / "standby.signal").touch()

    def start(self, **settings):
        """Starts the server; it serves when `answers` does."""
        options = []
        own = {
            "listen_addresses": self.place.address, "port": self.port, "unix_socket_directories": self.folder,
        }
        for name, value in {**SETTINGS, **own, **settings}.items():
            options += ["-c", f"{name}={value}"]
        with contextlib.suppress(FileNotFoundError):
            (self.data / "postmaster.pid").unlink()
        # It must not outlive us, however we end.
        guard = [*self.place.prefix, *as_unprivileged(), "--pdeathsig", "QUIT", "--"]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                guard + self._command("postgres", "-D", self.data, *options), stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, cwd="/", start_new_session=True, env=os.environ | self.environment,
            )

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    @property
    def has_ended(self):
        return self.process is not None and not self.is_running

    async def stop(self, how=signal.SIGINT, within=30):
        """Ends it: SIGINT orderly, SIGQUIT at once, SIGKILL without a word."""
        process, self.process = self.process, None
        if process is None:
            return
        if how == signal.SIGKILL:
            await _kill_all(process)
        else:
            process.send_signal(how)
        try:
            await asyncio.wait_for(ended(process), within)
        except TimeoutError:
            await _kill_all(process)

    def dsn(self, database="touchsync", name="harness"):
        """How the harness itself connects: past all proxies."""
        return f"host={self.folder} port={self.port} user=touchsync dbname={database} application_name={name}"

    def replication(self, name):
        """How a standby of that name connects: over the network, if there is one."""
        host = self.folder if self.place is LOCAL else self.place.address
        return f"host={host} port={self.port} user=touchsync application_name={name}"


async def _kill_all(process):
    """Kills a server as a machine that loses power does: all its processes at once. Each of them leads a group of its own
    and notices the first one's end only when it waits for something; until then no successor starts."""
    if process.poll() is None:
        # So that it forks no more, and keeps the numbers of those that end.
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        handles = [os.pidfd_open(int(child)) for child in children]
        for handle in handles:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        process.kill()
        for handle in handles:
            await over(handle)
    await ended(process)


class Pair:
    """A primary, and a standby that every COMMIT waits for, unless there is to be none.

    `data` puts the primary's files elsewhere, on a small file system for instance; `place` says where a server runs;
    `settings` are the first primary's.
    """

    # Daemons reach each server through a proxy.
    url = None

    def __init__(self, folder, has_standby=True, data=None, place=lambda name: LOCAL, **settings):
        self.has_standby = has_standby
        self.settings = settings
        self.servers = [Server(folder, name, place(name)) for name in ("postgres-1", "postgres-2")]
        self.primary, self.standby = self.servers
        self.primary.data = data or self.primary.data
        self.failovers = 0

    async def start(self):
        await self.primary.create()
        self.primary.start(**self.settings)
        await self.primary.answers()
        await self.primary.rows("create database touchsync", database="postgres")
        if not self.has_standby:
            return
        await self.standby.copy(self.primary)
        for server in self.servers:
            server.set_late(synchronous_standby_names="*")
        self.start_standby()
        await self.is_synchronous()

    async def build_standby(self):
        await self.standby.copy(self.primary)
        self.start_standby()

    def start_standby(self):
        self.standby.start(primary_conninfo=self.primary.replication(self.standby.name))

    def start_primary(self):
        self.primary.start()

    async def is_synchronous(self, within=60):
        """Waits until COMMIT waits for somebody who is there."""
        if not self.has_standby:
            return
        for _ in range(int(within / 0.1)):
            with contextlib.suppress(psycopg.Error):
                query = "select count(*) from pg_stat_replication where sync_state = 'sync' and state = 'streaming'"
                if await self.primary.rows(query) == [(1,)]:
                    return
            await asyncio.sleep(0.1)
        raise AssertionError(f"no synchronous standby:\n{self.standby.tail()}\n{self.primary.tail()}")

    async def fail_over(self):
        """The primary is gone for good, the standby takes its place."""
        await self.primary.stop(signal.SIGKILL)
        self.primary, self.standby = self.standby, self.primary
        await self.primary.run("pg_ctl", "promote", "--pgdata", self.primary.data, "--timeout=60")
        self.failovers += 1

    async def stop(self):
        for server in self.servers:
            await server.stop(signal.SIGQUIT)
