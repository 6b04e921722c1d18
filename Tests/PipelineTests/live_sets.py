"""A pipeline whose stages have sets that change while it runs: from a file, or from DNS with a resolver of its own."""

import json
import pathlib
import subprocess

import ports
from linked import BEHIND, LinkedPipeline
from pipeline import Pipeline, eventually
from resolver import Resolver

# The settings that name the instances of a stage.
SETTINGS = {stage: f"{stage}s" for stage in BEHIND["gateway"]}


class LivePipeline(LinkedPipeline):
    """One of each daemon at first, and up to `most`."""

    def __init__(self, database, most=3, **more):
        super().__init__(database, **more)
        self.report = {"database": database}
        self.most = most
        for stage in BEHIND:
            for number in range(2, most + 1):
                self.ports[f"{stage}-{number}"] = ports.free(2)

    rows, log_rows = Pipeline.rows, Pipeline.log_rows
    assert_gapless, assert_shards_gapless = Pipeline.assert_gapless, Pipeline.assert_shards_gapless

    @property
    def url(self):
        return self.urls[0]

    def start(self):
        for stage in BEHIND:
            for number in range(2, self.most + 1):
                self.keys.make(stage, f"{stage}-{number}")
        self.publish()
        return super().start()

    def flags(self, stage, name):
        flags = super().flags(stage, name)
        for other, setting in SETTINGS.items():
            if f"--{setting}" in flags:
                flags[flags.index(f"--{setting}") + 1] = self.source(other)
        return flags

    def knows(self, stage, count):
        """Waits until every daemon knows this number of instances of a stage."""
        label = f'set_instances{{set="{SETTINGS[stage]}"}}'
        holders = [name for name in self.daemons if stage in BEHIND[name.split("-")[0]]]
        eventually(
            f"all know {count} of {stage}", lambda: all(self.metric(name, label) == count for name in holders), within=15
        )

    def add(self, stage, starts_first):
        """Adds an instance to the set, before it is up or afterwards."""
        name = f"{stage}-{len(self.names[stage]) + 1}"
        self.names[stage].append(name)
        if starts_first:
            self.launch(stage, name)
        self.publish()
        if not starts_first:
            self.launch(stage, name)
        eventually(f"{name} is ready", lambda: self.is_ready(name), within=15)
        self.knows(stage, len(self.names[stage]))
        return name

    def remove(self, name):
        """Removes an instance from the set; it goes on."""
        stage = name.split("-")[0]
        self.names[stage].remove(name)
        self.publish()
        self.knows(stage, len(self.names[stage]))


class FilePipeline(LivePipeline):
    """Its sets are in a file."""

    def source(self, stage):
        return f"file://{self.folder / 'instances.json'}"

    def text(self):
        sets = {SETTINGS[stage]: [f"{name}=tcp://{self.address(name)}" for name in self.names[stage]] for stage in SETTINGS}
        return json.dumps(sets, indent=1)

    def publish(self):
        draft = self.folder / "instances.new"
        draft.write_text(self.text())
        draft.rename(self.folder / "instances.json")


class Resolving:
    """This machine, as programs see it that ask another name server."""

    def __init__(self, folder, address="127.0.0.1"):
        self.address = address
        self.conf = pathlib.Path(folder) / "resolv.conf"
        # A lookup without an answer takes longer than anything waits here.
        self.conf.write_text(f"nameserver {Resolver.ADDRESS}\noptions timeout:25 attempts:1\n")

    def run(self, *command, **more):
        script = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'
        return subprocess.Popen(["unshare", "--mount", "sh", "-c", script, self.conf, *command], **more)


class ResolvedPipeline(LivePipeline):
    """Its sets are in DNS."""

    def __init__(self, database, resolver, **more):
        super().__init__(database, **more)
        self.resolver = resolver
        self.here = Resolving(self.folder)
        self.hosts = {stage: self.here for stage in BEHIND}


class ServicePipeline(ResolvedPipeline):
    """Its sets are SRV records, so instances go by the names of their hosts and have ports of their own."""

    def source(self, stage):
        return f"srv://_{stage}._tcp.touchsync.test"

    def publish(self):
        records = self.resolver.names
        for stage in SETTINGS:
            hosts = {f"{name}.touchsync.test": self.ports[name] for name in self.names[stage]}
            records |= {host: [self.host(stage).address.strip("[]")] for host in hosts}
            records[f"_{stage}._tcp.touchsync.test"] = list(hosts.items())


class SixPipeline(ServicePipeline):
    """The stages behind gateways have addresses of IPv6."""

    def __init__(self, database, resolver, **more):
        super().__init__(database, resolver, **more)
        self.hosts |= {stage: Resolving(self.folder, "[::1]") for stage in BEHIND["gateway"]}

    def flags(self, stage, name):
        flags = super().flags(stage, name)
        flags[flags.index("--admin-host") + 1] = "127.0.0.1"
        return flags


class NamedPipeline(ResolvedPipeline):
    """Its sets are addresses, so instances go by those; all of a stage have one port and one key."""

    NETS = {"fanout": "127.0.41", "committer": "127.0.42", "coalescer": "127.0.43", "gateway": "127.0.44"}

    def ip(self, name):
        stage, number = name.split("-")
        return f"{self.NETS[stage]}.{number}"

    def address(self, name):
        return f"{self.ip(name)}:{self.ports[name.split('-')[0] + '-1']}"

    def source(self, stage):
        return f"dns://{SETTINGS[stage]}.touchsync.test:{self.ports[f'{stage}-1']}"

    def publish(self):
        for stage in SETTINGS:
            self.resolver.names[f"{SETTINGS[stage]}.touchsync.test"] = [self.ip(name) for name in self.names[stage]]

    def start(self):
        for stage, net in self.NETS.items():
            self.keys.make(stage, f"{net}.*")
        return super().start()

    def flags(self, stage, name):
        flags = super().flags(stage, name)
        for flag, value in {
            "--name": self.ip(name), "--host": self.ip(name), "--port": str(self.ports[f"{stage}-1"]),
            "--admin-host": "127.0.0.1",
            "--link-key-file": str(self.keys.folder / f"{stage}-{self.NETS[stage]}.any.key"),
        }.items():
            if flag in flags:
                flags[flags.index(flag) + 1] = value
        return flags
