"""What a run says about itself, and the figures that must not be zero."""

import collections

import orjson

MEGABYTE = 1 << 20
# The longest time without any acknowledgement after one of two daemons was killed, in seconds.
OUTAGE = 3.0
# Every kind of commit that apps number.
EDITS = (
    "element:create", "elements:create", "element:transform", "elements:transform", "element:gesture",
    "elements:gesture", "element:preset", "element:delete", "elements:delete", "history:undo", "history:redo",
)
# What lets elements move by themselves, and stops them.
MOTIONS = ("element:throw", "elements:throw", "element:animate", "elements:animate", "element:halt", "elements:halt")
# The kinds that people make with a client library.
EDITS_OF_CLIENTS = (*EDITS, "element:update")
# What the checker counts of viewports, cursors and selections.
OF_LOOKS = ("viewports", "updates-with-viewport", "previews-out-of-view", "last-previews-in-view", "people")


class Report:
    """Collects what each fault did; prints it; knows what the run had to contain."""

    def __init__(self, seed, faults):
        self.seed = seed
        self.faults = faults
        self.strikes = collections.defaultdict(list)
        self.counts = {}
        self.violations = []
        self.slow_joiners = []
        self.has_followers = False
        self.people = []
        self.slow_summary = ""
        self.lines = []

    def struck(self, faults, struck, recovered, acks, outages):
        """One or two faults came and went: seconds until taken back, until all was well; acknowledgements meanwhile."""
        for fault in faults:
            self.strikes[fault.name].append(
                (struck, recovered, acks, outages.longest_all, outages.longest_room, len(faults), outages.slowest,
                 outages.slowest_elsewhere)
            )
        print(
            f"chaos: {' + '.join(fault.name for fault in faults):36} {struck:5.1f} s, well after {recovered:5.1f} s, "
            f"{acks:5d} acks, nobody answered for {outages.longest_all:5.2f} s, a room for {outages.longest_room:5.2f} s, "
            f"a commit elsewhere {outages.slowest_elsewhere:5.2f} s",
            flush=True,
        )

    @property
    def required(self):
        """Names of counts that must not be zero."""
        names = ["acks", "faults.open-transaction", "unknown.resolved", "gaps.repaired", "snapshots", "resyncs"]
        names += ["repeats", "bursts", "left and joined", "shown", "old.events", "old.parts", "previews of old apps"]
        names += [f"acks.{event}" for event in EDITS + MOTIONS]
        if self.slow_joiners:
            names.append("slow.reads")
        names += ["followed", "followers resumed"] if self.has_followers else []
        struck = {fault.name for fault in self.faults}
        for client in sorted({person.kind for person in self.people}):
            names += [f"{client}.applied.{event}" for event in EDITS_OF_CLIENTS]
            names += [f"{client}.refused.not_found", f"{client}.shown", f"{client}.previews"]
            names += [f"{client}.saved and applied"] if "kill-client" in struck else []
            names += [f"{client}.frozen for long"] if "freeze-client" in struck else []
        return names + [f"faults.{fault.name}" for fault in self.faults]

    def finish(self, world):
        """Takes the last figures."""
        total = world.figures.total
        self.has_followers = bool(world.followers)
        self.counts = dict(world.counts) | {
            "unknown.written": total("touchsync_committer_unknown_outcomes_total", '"written"'),
            "unknown.lost": total("touchsync_committer_unknown_outcomes_total", '"lost"'),
            "batches.lost": total("touchsync_committer_batches_total", '"lost"'),
            "batches.stale": total("touchsync_committer_batches_total", '"stale"'),
            "duplicates.found": total("touchsync_committer_commits_total", '"duplicate"'),
            "commits.resent": total("touchsync_gateway_commits_resent_total"),
            "gaps.fanout": total("touchsync_fanout_gaps_total"),
            "gaps.gateway": total("touchsync_gateway_gaps_total"),
            "replays": total("touchsync_fanout_replays_total"),
            "resets": total("touchsync_fanout_resyncs_total"),
            "rebases": total("touchsync_fanout_shard_reloads_total"),
            "slow.reads": len(world.slow.reads),
            "failovers": world.cluster.postgres.failovers,
            "starts": sum(daemon.starts for daemon in world.cluster.daemons.values()),
        }
        self.counts["unknown.resolved"] = self.counts["unknown.written"] + self.counts["unknown.lost"]
        self.counts["gaps.repaired"] = self.counts["gaps.fanout"] + self.counts["gaps.gateway"]
        self.violations = list(world.violations) + world.figures.excesses() + self._outages()
        self.violations += [crash for daemon in world.cluster.daemons.values() for crash in daemon.crashes]
        self.most = world.figures.most
        self.slow_joiners = world.slow.joiners
        self.people = world.persons.all
        self.slow_summary = world.slow.summary()

    def add_counts(self, path):
        """Adds the counts to a history; what follows from its records the checker counts itself."""
        with open(path, "ab") as history:
            for name, value in sorted(self.counts.items()):
                if name not in ("acks", "previews", "resyncs", "snapshots"):
                    history.write(orjson.dumps({"kind": "count", "name": name, "value": value}) + b"\n")

    def _outages(self):
        kills = [(fault, self.strikes[fault.name]) for fault in self.faults if fault.kills]
        return [
            f"after {fault.name} nobody was answered for {outage:.1f} s"
            for fault, strikes in kills for _, _, _, outage, _, together, *_ in strikes
            if together == 1 and outage > OUTAGE
        ] + [
            f"after {fault.name} a commit through a gateway that was not cut off took {seconds:.1f} s"
            for fault in self.faults if fault.answers_within
            for *_, together, _, seconds in self.strikes[fault.name]
            if together == 1 and seconds > fault.answers_within
        ]

    def show(self):
        """Prints everything; false when the run was not what it must be."""
        print(f"\n{'fault':24} times  longest without any ack   in one room   one commit    elsewhere   well again after")
        for name, strikes in sorted(self.strikes.items()):
            # What came together with another fault says little about this one.
            alone = [strike for strike in strikes if strike[5] == 1] or strikes
            _, recovered, _, everybody, room, _, slowest, elsewhere = (max(column) for column in zip(*alone))
            print(
                f"{name:24} {len(strikes):5d} {everybody:20.2f} s {room:15.2f} s {slowest:10.2f} s {elsewhere:10.2f} s "
                f"{recovered:16.1f} s"
            )
        print("\ndaemon          most memory   descriptors")
        for name, (memory, descriptors) in sorted(self.most.items()):
            print(f"{name:15} {memory / MEGABYTE:7.0f} MiB {descriptors:13d}")
        if self.slow_summary:
            gateways = max(memory for name, (memory, _) in self.most.items() if name.startswith("gateway"))
            print(f"\n{self.slow_summary}; no gateway took more than {gateways / MEGABYTE:.0f} MiB")
        print("\ncounts: " + ", ".join(f"{name} {value}" for name, value in sorted(self.counts.items())))
        missing = [name for name in self.required if not self.counts.get(name)]
        for text in self.violations:
            print(f"VIOLATION: {text}")
        for name in missing:
            print(f"MISSING: {name} is zero: the run proves nothing about it")
        return not self.violations and not missing
