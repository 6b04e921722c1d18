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

import operators
import ports
from daemons import PROGRAMS, STAGES, Daemon
from keys import Keys
from machines import LOCAL
from postgres import Pair
from proxy import Proxy
from watched import NEIGHBOURS, Watched

PLURALS = {"coalescer": "coalescers", "committer": "committers", "fanout": "fanouts"}
# Tight where a bound has to be seen to hold, short where a fault has to be noticed within the run.
MEGABYTE = 1 << 20
SETTINGS = {
    "gateway": {
        "ping-interval-ms": 2000, "ping-timeout-ms": 4000, "commits-per-second": 1000, "commit-burst": 1000,
        "max-buffered-bytes": MEGABYTE,
    },
    "coalescer": {"max-entries": 4096},
    "committer": {"cache-bytes": 8 * MEGABYTE, "queue-bytes": 4 * MEGABYTE, "queue-commits": 2048},
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


def keep_evidence(folder):
    """Copies a failed run's history and logs; returns where they are."""
    kept = pathlib.Path(tempfile.mkdtemp(prefix="touchsync-chaos-failed-"))
    for file in [*folder.glob("*.jsonl"), *folder.glob("*.log")]:
        shutil.copy(file, kept)
    return kept


class Cluster(Watched):
    """Everything that runs, in one folder.

    `counts` and `settings` differ from the usual by stage; `prefixes` are words before the command of a stage or of one
    daemon; `sees(name, peer)` says who knows of whom; `data` is where the database's files lie when not in the folder;
    `order` is the order of the start, in which "postgres" may stand too; with `is_keyed` links are guarded by keys;
    `postgres` takes the place of the pair; with `has_files` daemons read who they know of from a file each, which `publish`
    replaces; `programs` is the folder of the daemons' programs; `machines` are where everything runs.
    """

    # Apps speak plain text.
    tls = None

    def __init__(
        self, folder, counts=None, settings=None, prefixes=None, standby=True, sees=None, data=None, order=STAGES,
        is_keyed=False, postgres=None, has_files=False, programs=PROGRAMS, machines=None,
    ):
        self.counts = {stage: 2 for stage in STAGES} | (counts or {})
        self.settings = {stage: SETTINGS[stage] | (settings or {}).get(stage, {}) for stage in STAGES}
        self.prefixes = prefixes or {}
        self.folder = folder
        self.sees = sees or (lambda name, peer: True)
        # Between hosts it must be possible to find out afterwards which links were lost, and when.
        self.log_level = "info" if machines else "notice"
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
            self.binds[name] = ports.free()
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
            environment |= {"TOUCHSYNC_ALLOW_ROOT": "true", **operators.ENVIRONMENT}
            if stage in ("committer", "fanout"):
                environment["DATABASE_URL"] = await self._database(name)
            prefix = self.prefixes.get(stage) or self.prefixes.get(name) or ()
            self.daemons[name] = Daemon(stage, name, self.folder, flags, environment, [*place.prefix, *prefix])
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
        own = ports.free()
        await self._listen((name, peer), (host, port), own, may_repeat=True, place=self.place(name))
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

    def behind_proxies(self, stage):
        """Those whose connections to others lead through proxies."""
        return [daemon for daemon in self.of(stage) if not self._is_direct(daemon.name)]

    def between(self, *, source=None, target=None):
        """The proxies by the beginnings of the names of their two sides."""
        return [
            proxy for (one, other), proxy in self.proxies.items()
            if (source is None or one.startswith(source)) and (target is None or other.startswith(target))
        ]

    def auth(self, user):
        """What an app connects with: daemons of the harness believe who somebody says that they are."""
        return {"userId": user}

    def app_addresses(self, through_proxy):
        """Where apps connect: the addresses of the gateways."""
        if not through_proxy:
            return [self.address(daemon.name) for daemon in self.of("gateway")]
        return [("127.0.0.1", proxy.port) for proxy in self.between(source="app")]

    def heal(self):
        """No proxy and no machine does harm, nobody is frozen."""
        if self.machines:
            self.machines.restore()
        for proxy in self.proxies.values():
            proxy.heal()
        for daemon in self.daemons.values():
            daemon.has_power.set()
            daemon.send(signal.SIGCONT)
