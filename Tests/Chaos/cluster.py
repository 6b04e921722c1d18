"""Two of each daemon, a PostgreSQL pair, and a fault proxy on every way between them, or on half of them on several
machines."""

import asyncio
import contextlib
import itertools
import json
import os
import pathlib
import shutil
import signal
import tempfile

import ports
from daemons import PROGRAMS, STAGES, Daemon
from keys import Keys
from machines import LOCAL
from postgres import Pair
from proxy import Proxy

# Who connects to whom.
NEIGHBOURS = {
    "gateway": ["coalescer", "committer", "fanout"],
    "coalescer": ["committer", "fanout"],
    "committer": ["fanout"],
    "fanout": [],
}
PLURALS = {"coalescer": "coalescers", "committer": "committers", "fanout": "fanouts"}
# Tight where a bound has to be seen to hold, short where a fault has to be noticed within the run.
MEGABYTE = 1 << 20
SETTINGS = {
    "gateway": {
        "ping-interval-ms": 2000, "ping-timeout-ms": 4000, "commits-per-second": 1000, "commit-burst": 1000,
        "max-buffered-bytes": MEGABYTE,
    },
    "coalescer": {"max-entries": 4096},
    "committer": {"cache-bytes": 8 * MEGABYTE, "queue-bytes": 4 * MEGABYTE, "queue-items": 2048},
    "fanout": {
        "memory-bytes": 32 * MEGABYTE, "gateway-bytes": 4 * MEGABYTE, "recent-bytes": 16384, "replay": 12,
        "room-idle-ms": 2000,
    },
}


# All apps of the harness come from one address, and have no tokens.
OF_SEVERAL_MACHINES = ["--open=true", "--max-connections-per-address=10000", "--address-connections-per-second=100000"]


@contextlib.contextmanager
def temporary_folder(keeps=False):
    """A folder for one cluster, removed afterwards."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="touchsync-chaos-"))
    # PostgreSQL may run as another user, who must get through.
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        if not keeps:
            shutil.rmtree(folder, ignore_errors=True)


class Cluster:
    """Everything that runs, in one folder.

    `counts` and `settings` differ from the usual by stage; `prefixes` are words before the command of a stage or of one
    daemon; `sees(name, peer)` says who knows of whom; `data` is where the database's files lie when not in the folder;
    `order` is the order of the start, in which "postgres" may stand too; `log` is the descriptor that all daemons write
    to instead of files of their own, and how much they write; with `is_keyed` links are guarded by keys; `postgres` takes
    the place of the pair; with `has_files` daemons read who they know of from a file each, which `publish` replaces;
    `programs` is the folder of the daemons' programs; `machines` are where everything runs.
    """

    def __init__(
        self, folder, counts=None, settings=None, prefixes=None, standby=True, sees=None, data=None, order=STAGES,
        log=(None, None), is_keyed=False, postgres=None, has_files=False, programs=PROGRAMS, machines=None,
    ):
        self.counts = {stage: 2 for stage in STAGES} | (counts or {})
        self.settings = {stage: SETTINGS[stage] | (settings or {}).get(stage, {}) for stage in STAGES}
        self.prefixes = prefixes or {}
        self.folder = folder
        self.sees = sees or (lambda name, peer: True)
        self.sink, self.log_level = log
        # Between hosts it must be possible to find out afterwards which links were lost, and when.
        self.log_level = self.log_level or ("info" if machines else "notice")
        self.order = list(order) if "postgres" in order else ["postgres", *order]
        self.machines = machines
        self.postgres = postgres or Pair(self.folder, standby, data, self.place)
        self.keys = Keys(self.folder) if is_keyed else None
        self.has_files = has_files
        self.programs = programs
        # By daemon and setting: everybody whom the daemon could know, with the address.
        self.addresses = {}
        self.daemons = {}
        # By (who connects, to whom): the proxies between them.
        self.proxies = {}
        self.binds = {}

    # Life

    async def start(self):
        await self.prepare()
        for stage in self.order:
            if stage == "postgres":
                await self.postgres.start()
            else:
                for daemon in self.of(stage):
                    daemon.start()
        await self.is_ready()
        return self

    def place(self, name):
        """Where a daemon or server runs."""
        return self.machines.place(name) if self.machines else LOCAL

    def address(self, name):
        """Where a daemon listens."""
        return self.place(name).address, self.binds[name]

    async def prepare(self):
        """Proxies and command lines; nothing runs yet."""
        names = {stage: [f"{stage}-{index + 1}" for index in range(self.counts[stage])] for stage in STAGES}
        for name in itertools.chain(*names.values()):
            # A coalescer listens on two neighbouring ports.
            self.binds[name] = ports.free(2)
        for stage, name in [(stage, name) for stage in STAGES for name in names[stage]]:
            place = self.place(name)
            flags = [f"--name={name}", f"--log-level={self.log_level}", f"--admin-host={place.address}"]
            for neighbour in NEIGHBOURS[stage]:
                seen = [peer for peer in names[neighbour] if self.has_files or self.sees(name, peer)]
                peers = [f"{peer}=tcp://{await self._link(name, peer)}" for peer in seen]
                self.addresses.setdefault(name, {})[PLURALS[neighbour]] = peers
                source = f"file://{self._file(name)}" if self.has_files else ",".join(peers)
                flags.append(f"--{PLURALS[neighbour]}={source}")
            if self.has_files and name in self.addresses:
                self.publish(name, lambda peer: self.sees(name, peer))
            if stage == "gateway":
                flags += [f"--host={place.address}", f"--port={self.binds[name]}"]
                flags += OF_SEVERAL_MACHINES if self.machines else []
                await self._listen(("app", name), self.address(name), ports.free())
            else:
                flags.append(f"--bind=tcp://{place.address}:{self.binds[name]}")
            flags += [f"--{key}={value}" for key, value in self.settings[stage].items()]
            if self.keys:
                flags += self.keys.flags(stage, name)
            environment = {key: value for key, value in os.environ.items() if not key.startswith("TOUCHSYNC_")}
            environment.pop("DATABASE_URL", None)
            environment["TOUCHSYNC_ALLOW_ROOT"] = "true"
            if stage in ("committer", "fanout"):
                environment["DATABASE_URL"] = await self._database(name)
            prefix = self.prefixes.get(stage) or self.prefixes.get(name) or ()
            self.daemons[name] = Daemon(stage, name, self.folder, flags, environment, [*place.prefix, *prefix])
            self.daemons[name].sink = self.sink
            self.daemons[name].programs = self.programs

    def _file(self, name):
        return self.folder / f"{name}.json"

    def publish(self, name, sees):
        """Replaces the file of a daemon's sets: those that it sees are in it."""
        sets = {
            setting: [peer for peer in peers if sees(peer.split("=")[0])]
            for setting, peers in self.addresses[name].items()
        }
        draft = self.folder / f"{name}.json.new"
        draft.write_text(json.dumps(sets))
        draft.rename(self._file(name))

    def _is_direct(self, name):
        """On several machines half of the daemons connect to others without a proxy: what they feel of the network is what
        the kernel makes of it."""
        return self.machines is not None and name[-1] in "13579"

    async def _link(self, name, peer):
        host, port = self.address(peer)
        if self._is_direct(name):
            return f"{host}:{port}"
        own, place = ports.free(2), self.place(name)
        await self._listen((name, peer), (host, port), own, may_repeat=True, place=place)
        if peer.startswith("coalescer"):
            await self._listen((name, f"{peer}.previews"), (host, port + 1), own + 1, may_repeat=True, place=place)
        return f"127.0.0.1:{own}"

    async def _database(self, name):
        """A connection string that names all servers, each behind a proxy unless they are elsewhere."""
        if self.postgres.url:
            return self.postgres.url
        addresses = [(server.place.address, server.port) for server in self.postgres.servers]
        if not self._is_direct(name):
            behind, addresses = addresses, []
            for server, address in zip(self.postgres.servers, behind):
                addresses.append(("127.0.0.1", ports.free()))
                await self._listen((name, server.name), address, addresses[-1][1], place=self.place(name))
        hosts = ",".join(f"{host}:{port}" for host, port in addresses)
        return f"postgresql://touchsync@{hosts}/touchsync?connect_timeout=3"

    async def _listen(self, key, target, port, **more):
        self.proxies[key] = await Proxy(">".join(key), target, **more).listen(port)

    async def stop(self):
        for stage in STAGES:
            await asyncio.gather(*(daemon.stop() for daemon in self.of(stage)))
        await self.postgres.stop()
        for proxy in self.proxies.values():
            proxy.close()

    # What there is

    def of(self, stage):
        return [daemon for daemon in self.daemons.values() if daemon.stage == stage]

    def behind_proxies(self, stage):
        """Those whose connections to others lead through proxies."""
        return [daemon for daemon in self.of(stage) if not self._is_direct(daemon.name)]

    def between(self, *, source=None, target=None):
        """The proxies by the beginnings of the names of their two sides."""
        return [
            proxy for (one, other), proxy in self.proxies.items()
            if (source is None or one.startswith(source)) and (target is None or other.startswith(target))
        ]

    def app_addresses(self, through_proxy):
        """Where apps connect: the addresses of the gateways."""
        if not through_proxy:
            return [self.address(daemon.name) for daemon in self.of("gateway")]
        return [("127.0.0.1", proxy.port) for proxy in self.between(source="app")]

    async def is_ready(self, within=60):
        """Waits until every daemon says that it is ready, now."""
        for _ in range(int(within / 0.1)):
            answers = await asyncio.gather(*(self.fetch(daemon, "/readyz") for daemon in self.daemons.values()))
            if all(status == 200 for status, _ in answers):
                return
            await asyncio.sleep(0.1)
        late = [daemon for daemon, (status, _) in zip(self.daemons.values(), answers) if status != 200]
        raise AssertionError("not ready: " + "".join(f"\n{daemon.name}: {daemon.tail(1200)}" for daemon in late))

    async def fetch(self, daemon, path, within=2.0):
        """Status and body of one of a daemon's own pages; status 0 when it does not answer."""
        if not daemon.is_ready:
            return 0, b""
        with contextlib.suppress(OSError, TimeoutError, ValueError, IndexError):
            async with asyncio.timeout(within):
                host, port = daemon.http.removeprefix("http://").split(":")
                reader, writer = await asyncio.open_connection(host, int(port.strip("/")))
                try:
                    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
                    answer = await reader.read(1 << 20)
                    while chunk := await reader.read(1 << 20):
                        answer += chunk
                finally:
                    writer.close()
                head, _, body = answer.partition(b"\r\n\r\n")
                return int(head.split(b" ", 2)[1]), body
        return 0, b""

    async def metrics(self, daemon):
        """A daemon's metrics by name with labels; none when it does not answer."""
        _, body = await self.fetch(daemon, "/metrics")
        found = {}
        for line in body.decode(errors="replace").splitlines():
            if line and not line.startswith("#"):
                name, _, value = line.rpartition(" ")
                with contextlib.suppress(ValueError):
                    found[name] = float(value)
        return found

    async def links(self):
        """How many times daemons have opened links to others again; None while a link is missing."""
        opened = 0
        for stage, neighbours in NEIGHBOURS.items():
            for daemon in self.of(stage) if neighbours else []:
                figures = await self.metrics(daemon)
                for neighbour in neighbours:
                    if figures.get(f'touchsync_{stage}_links_up{{stage="{neighbour}"}}') != self.counts[neighbour]:
                        return None
                opened += figures[f"touchsync_{stage}_reconnects_total"]
        return opened

    async def room(self, name):
        """What each fan-out knows of the people in a room."""
        pages = {daemon.name: await self.fetch(daemon, f"/rooms?id={name}") for daemon in self.of("fanout")}
        return {daemon: json.loads(body)["people"] for daemon, (status, body) in pages.items() if status == 200}

    def heal(self):
        """No proxy and no machine does harm, nobody is frozen."""
        if self.machines:
            self.machines.restore()
        for proxy in self.proxies.values():
            proxy.heal()
        for daemon in self.daemons.values():
            daemon.has_power.set()
            daemon.send(signal.SIGCONT)

