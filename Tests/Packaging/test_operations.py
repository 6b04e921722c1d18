"""Three machines in production by the commands of deploy/MACHINES.md, with apps at work all the time: each stage is doubled, all
is upgraded, each machine loses its power, and a backup is restored."""

import re
import time

import pytest

from certificates import Certificate
from conftest import build_package
from pipeline import eventually
from prometheus import Prometheus
from trio import NETWORK, STAGES, Trio
from upkeep import Operator
from visitors import Visitors

pytestmark = [
    pytest.mark.long(why="builds the package twice; rows of the chaos runs try the parts by themselves"),
    pytest.mark.timeout(1800),
]

APPS = 40
FIRST, ALL = [1, 2], [1, 2, 3, 4]
NEXT = "99.0.0"
# The longest time in which no app is acknowledged, in seconds: while daemons are replaced, and while a standby becomes the
# primary or leaves it alone.
REPLACED, FAILED_OVER = 5, 60
SLOW = {"RoomsSlowed", "PreviewsWait"}


@pytest.fixture
def certificate(tmp_path):
    return Certificate.make(tmp_path, addresses=[f"{NETWORK}.1", f"{NETWORK}.2"])


@pytest.fixture(scope="module")
def following():
    """The next package."""
    return build_package(NEXT)


@pytest.fixture
def trio(tmp_path, package, version, certificate):
    """The machines, set up."""
    backups = tmp_path / "backups"
    backups.mkdir()
    with Trio(backups) as trio:
        Operator(trio).set_up(package, version, certificate)
        yield trio


# What keeps the database, on which machine.
KEEPERS = {"etcd-1": 1, "etcd-2": 2, "etcd-3": 3, "patroni-1": 1, "patroni-2": 2}


def daemons(instances):
    return {f"{stage}-{instance}" for instance in instances for stage in STAGES}


class Operation:
    """What is done to the machines while apps are at work, and what must be true then."""

    def __init__(self, trio, apps):
        self.trio = trio
        self.operator = Operator(trio)
        self.apps = apps
        self.prometheus = Prometheus(trio.wire.address(3))

    def double(self):
        """Who runs goes on, and knows the new ones."""
        before = self.trio.properties("MainPID", FIRST)
        self.operator.double()
        self.apps.order("add", gateways=self.trio.gateways([3, 4]), pages=self.trio.pages([3, 4]))
        self.apps.acknowledged()
        assert self.trio.properties("MainPID", FIRST) == before
        self.all_is_well()
        known = 'touchsync_set_instances{set="committers"}'
        eventually(
            "each gateway knows all committers",
            lambda: [value for _, value in self.prometheus.query(known)] == [4] * 4, within=20)

    def upgrade(self, following):
        """Each daemon is another process afterwards, old and new ones share the work, and no alert has fired so far."""
        before = self.trio.properties("MainPID", ALL)
        self.operator.install(following, NEXT)
        assert self.trio.properties("MainPID", ALL) == before
        self.operator.migrate()
        for _ in self.operator.replace():
            self.apps.acknowledged()
        after = self.trio.properties("MainPID", ALL)
        assert all(after[unit] not in (before[unit], "0") for unit in before), (before, after)
        self.all_is_well()
        assert self.alerts(over="20m") == set()
        for received in ("committer_commits_received_total", "fanout_updates_received_total"):
            shares = {labels["daemon"][-1]: value for labels, value in self.prometheus.query(f"touchsync_{received}")}
            assert shares["3"] + shares["4"] > 0, (received, shares)

    def lose(self, number, misses_log=False):
        """The others go on, somebody is told unless Prometheus is lost, and all is as before when it is back, even if the
        primary has no longer what it missed."""
        gone = {("DaemonDown", daemon) for daemon in daemons(ALL) if self.trio.machine_of(int(daemon[-1])) == number}
        gone |= {("DatabaseKeeperDown", keeper) for keeper, machine in KEEPERS.items() if machine == number}
        self.trio.power_off(number)
        if number == 3:
            self.apps.acknowledged()
        else:
            eventually("the other one has the primary", lambda: self.trio.roles() == {3 - number: "Leader"}, within=60)
            self.apps.acknowledged()
            left = 3 - number
            eventually("the alerts fire", lambda: gone <= self.alerts(), within=60)
            eventually("the primary stands alone", lambda: ("NoStandby", f"patroni-{left}") in self.alerts(), within=120)
            if misses_log:
                self.operator.drop_log(left)
        self.trio.power_on(number)
        self.trio.wait_for_standby()
        self.all_is_well()
        self.apps.acknowledged()

    def restore(self):
        """Exactly what was committed before a moment is there, and no daemon was restarted for it."""
        self.apps.acknowledged()
        before = self.trio.properties("MainPID", ALL)
        moment = self.apps.order("past_a_moment")
        shown = self.operator.restore(moment["moment"])
        assert re.search(rf"^ +{moment['kept']} \|", shown, re.MULTILINE), shown
        self.apps.order("start_over", epochs=moment["epochs"], within=60)
        self.apps.acknowledged()
        assert self.trio.properties("MainPID", ALL) == before
        self.operator.copy()

    def alerts(self, **over):
        """Those that fire, but for what is slow because one machine carries all three."""
        return {(name, daemon) for name, daemon in self.prometheus.firing(**over) if name not in SLOW}

    def all_is_well(self, instances=ALL):
        """Every daemon is ready, Prometheus reaches it, and no alert fires."""
        assert set(self.trio.properties("StatusText", instances).values()) == {"Ready."}
        eventually("Prometheus reaches all", lambda: self.prometheus.up() == daemons(instances), within=60)
        eventually("and what keeps the database", lambda: self.prometheus.up("database") == set(KEEPERS), within=60)
        eventually("nothing is wrong", lambda: self.alerts() == set(), within=120)


def test_two_machines_are_kept_in_production(following, trio, tmp_path, certificate):
    began = time.monotonic()

    def visitors(name, instances, seed):
        return Visitors(
            tmp_path / name, seed=seed, apps=APPS, secret=trio.secret, certificate=str(certificate.certificate),
            conninfo=trio.conninfo, gateways=trio.gateways(instances), pages=trio.pages(instances))

    def measured(apps, what, longest=REPLACED):
        figures = apps.figures()
        print(f"{time.monotonic() - began:6.0f} s: {what}, no app was acknowledged for {figures['outage']:.1f} s", flush=True)
        assert figures["outage"] < longest, (what, figures["outage"])
        apps.order("begin")

    with visitors("first", FIRST, 7) as apps:
        operation = Operation(trio, apps)
        operation.all_is_well(FIRST)
        apps.acknowledged()
        operation.operator.copy()
        measured(apps, "the database is copied")
        operation.double()
        measured(apps, "each stage is doubled")
        operation.upgrade(following)
        measured(apps, "all is upgraded")
        # The primary, then the standby.
        operation.lose(trio.leader())
        measured(apps, "the primary's machine was lost and came back", FAILED_OVER)
        operation.lose(3 - trio.leader(), misses_log=True)
        measured(apps, "the standby's machine was lost and came back", FAILED_OVER)
        operation.lose(3)
        measured(apps, "the third machine was lost and came back")
        assert len(apps.figures()["epochs"]) == 1
        counts = apps.end()
        print(f"{time.monotonic() - began:6.0f} s: judged, {counts['acks']} acknowledgements")

    with visitors("second", ALL, 8) as apps:
        Operation(trio, apps).restore()
        counts = apps.end()
        print(f"{time.monotonic() - began:6.0f} s: a moment is restored, and what followed is judged")
    # None has ended by itself.
    assert set(trio.properties("NRestarts", ALL).values()) == {"0"}
