"""The Debian package: what it holds, and its life on a machine with the real systemd, by the commands of deploy/README.md."""

import json
import re
import subprocess

import pytest

from conftest import build_package
from machine import Machine
from manager import REPOSITORY
from pipeline import eventually

pytestmark = pytest.mark.long(why="builds the package; make test tries the units and the daemons' reports by themselves")

STAGES = ["gateway", "coalescer", "committer", "fanout"]


@pytest.fixture
def machine():
    with Machine() as machine:
        yield machine


def three_commands(version):
    """The commands, as the page has them."""
    page = (REPOSITORY / "deploy/README.md").read_text()
    section = page.split("## Installed from a package\n", 1)[1].split("\n## ", 1)[0]
    commands = [line.strip() for line in section.split("\n\n    ", 1)[1].split("\n\n", 1)[0].splitlines()]
    assert len(commands) == 3 and f"./touchsync_{version}_amd64.deb" in commands[0], commands
    return commands


def doctor_command():
    page = (REPOSITORY / "deploy/README.md").read_text()
    return next(line.strip() for line in page.splitlines() if line.strip().startswith("systemd-run "))


def watching_command():
    """How the page says that operators watch the daemons."""
    page = (REPOSITORY / "deploy/README.md").read_text()
    return next(word for word in page.split("`") if word.startswith("(set -a;")).replace(" top ", " top --once ")


def install(machine, package, version):
    """Runs the three commands."""
    machine.put(package, f"touchsync_{version}_amd64.deb")
    for command in three_commands(version):
        machine.run(command)


def test_lintian_finds_nothing(package):
    done = subprocess.run(
        ["lintian", "--allow-root", "--fail-on", "error,warning", package], capture_output=True, text=True)
    assert done.returncode == 0 and not re.search("^[EW]:", done.stdout, re.MULTILINE), done.stdout + done.stderr


def test_the_same_files_make_the_same_package(package):
    first = package.read_bytes()
    assert build_package().read_bytes() == first


def test_three_commands_bring_up_a_machine(machine, package, version):
    install(machine, package, version)
    units = [f"touchsync-{stage}@1.service" for stage in STAGES] + ["touchsync-monitor.service"]
    for unit, port in zip(units, (9411, 9421, 9431, 9441, 9400)):
        assert machine.property(unit, "ActiveState") == "active"
        assert machine.property(unit, "StatusText") == "Ready."
        assert machine.answer(f"http://127.0.0.1:{port}/readyz")[0] == 200
        assert machine.says(f"stat -c %U /proc/{machine.property(unit, 'MainPID')}") == "touchsync"
    for program in ["touchsync", *(f"touchsync-{stage}" for stage in STAGES)]:
        assert re.fullmatch(rf"touchsync {version} \(\w+\), wire [^,]+, schema \d+", machine.says(f"{program} --version"))

    # An edit goes all the way.
    status, text = machine.answer("http://127.0.0.1:8081/api/rooms/demo/elements", {"id": "note-1", "type": "note"})
    assert status == 201, text
    assert "note-1" in machine.answer("http://127.0.0.1:8081/api/rooms/demo")[1]
    # The package made the operator's token, for root alone.
    assert machine.says("stat -c '%U %a' /etc/touchsync/operator.env") == "root 600"
    assert machine.answer("http://127.0.0.1:9411/metrics")[0] == 401
    monitor = json.loads(machine.answer("http://127.0.0.1:9400/overview", token=machine.operator_token())[1])
    assert [stage["ready"] for stage in monitor["stages"]] == [1, 1, 1, 1], monitor
    top = machine.says(watching_command())
    assert all(f"{stage}-1" in top for stage in STAGES) and "token" not in top, top

    # The journal knows priorities, and nothing in it needs attention.
    assert "daemon is ready" in machine.says("journalctl -o cat -u 'touchsync-*' -p info")
    assert machine.says("journalctl -o cat -q -u 'touchsync-*' -p warning") == ""

    # What the daemons have is fine.
    assert "fail" not in machine.says(doctor_command())

    # Another gateway.
    machine.run("systemctl enable --now touchsync-gateway@2")
    assert "note-1" in machine.answer("http://127.0.0.1:8082/api/rooms/demo")[1]

    # Another committer, which the others hear of without a restart.
    running = {unit: machine.property(unit, "MainPID") for unit in units}
    machine.run("systemctl enable --now touchsync-committer@2")
    machine.run(
        "sed -i 's|\"committer-1=ipc:///run/touchsync/committer-1.sock\"|&, "
        "\"committer-2=ipc:///run/touchsync/committer-2.sock\"|' /etc/touchsync/instances.json")
    known = 'touchsync_set_instances{set="committers"} 2'
    eventually("the gateway knows it", lambda: known in machine.metrics("9411"))
    assert running == {unit: machine.property(unit, "MainPID") for unit in units}

    # A reload ends nothing.
    before = machine.property("touchsync-coalescer@1", "MainPID")
    machine.run("systemctl reload touchsync-coalescer@1")
    assert machine.answer("http://127.0.0.1:9421/readyz")[0] == 200
    assert machine.property("touchsync-coalescer@1", "MainPID") == before

    # A daemon that is silent is replaced by its watchdog.
    machine.run(f"kill -STOP {before}")
    eventually(
        "the watchdog", lambda: machine.property("touchsync-coalescer@1", "MainPID") not in (before, "0")
        and machine.property("touchsync-coalescer@1", "StatusText") == "Ready.", within=40)
    assert "Watchdog timeout" in machine.says("journalctl -o cat -u touchsync-coalescer@1")

    # Wrong settings are said once, not tried again and again.
    machine.run("echo TOUCHSYNC_MAX_CONNECTIONS=none >/etc/touchsync/gateway-2.env")
    machine.run("systemctl restart touchsync-gateway@2", check=False)
    assert machine.property("touchsync-gateway@2", "ExecMainStatus") == "78"
    assert machine.property("touchsync-gateway@2", "NRestarts") == "0"

    # It stops in order, each daemon within its time; systemctl does not wait for what is part of a target.
    machine.run("systemctl stop 'touchsync-gateway@*' && systemctl stop touchsync.target")
    for unit in units:
        eventually(f"{unit} stops", lambda: machine.property(unit, "ActiveState") in ("inactive", "failed"), within=20)
        assert machine.property(unit, "Result") == "success"


def test_an_upgrade_keeps_settings_and_a_purge_leaves_nothing(machine, package, version):
    names = "find / -xdev \\( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /var/lib/dpkg -o -path /var/lib/apt " \
        "-o -path /var/cache -o -path /var/log -o -path /run -o -path /root -o -path /var/lib/postgresql " \
        "-o -path /var/tmp -o -path /var/lib/systemd \\) -prune -o -print | sort"
    files = set(machine.says(names).splitlines())
    install(machine, build_package("0.0.9"), version)
    assert machine.says("dpkg-query -W -f '${Version}' touchsync") == "0.0.9"
    machine.run("sed -i 's/\"gateway\": {/&\"throttleMs\": 20/' /etc/touchsync/touchsync.json")
    before = machine.property("touchsync-gateway@1", "MainPID")

    machine.put(package, package.name)
    machine.run(f"apt-get install -y --no-install-recommends ./{package.name}")
    assert machine.says("dpkg-query -W -f '${Version}' touchsync") == version
    assert '"throttleMs": 20' in machine.says("cat /etc/touchsync/touchsync.json")
    # The daemons go on until they are restarted.
    assert machine.property("touchsync-gateway@1", "MainPID") == before
    machine.run("systemctl restart touchsync.target")
    eventually("the gateway is ready", lambda: machine.property("touchsync-gateway@1", "StatusText") == "Ready.", within=30)
    assert machine.property("touchsync-gateway@1", "MainPID") != before

    machine.run("apt-get remove -y touchsync")
    assert machine.says("ls -l /proc/*/exe 2>/dev/null | grep -c /touchsync || true") == "0"
    assert '"throttleMs": 20' in machine.says("cat /etc/touchsync/touchsync.json")
    machine.run("apt-get purge -y touchsync && apt-get autoremove -y --purge")
    left = set(machine.says(names).splitlines()) - files
    assert {name for name in left if not re.match(r"/etc/(passwd|group|shadow|gshadow|subuid|subgid)-?$", name)} == set()
