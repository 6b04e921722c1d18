"""The units for systemd: what it says of them, and that the daemons accept what they pass on."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from manager import REPOSITORY, UNITS, environment, settings

STAGES = ["gateway", "coalescer", "committer", "fanout"]
PROGRAMS = pathlib.Path(os.environ["TOUCHSYNC_PROGRAMS"])


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A root folder with the units and the settings where the package puts them."""
    root = tmp_path_factory.mktemp("root")
    units = root / "usr/lib/systemd/system"
    shutil.copytree("/lib/systemd/system", units, symlinks=True)
    for path in UNITS.glob("touchsync*"):
        shutil.copy(path, units)
    (units / "touchsync-.service.d").mkdir()
    shutil.copy(UNITS / "daemons.conf", units / "touchsync-.service.d/10-daemons.conf")
    (root / "usr/lib/touchsync").mkdir()
    for program in ["touchsync", *(f"touchsync-{stage}" for stage in STAGES)]:
        # systemd-analyze asks whether it can be executed, and does not.
        (root / f"usr/lib/touchsync/{program}").touch(0o755)
    (root / "bin").mkdir()
    shutil.copy("/bin/sh", root / "bin")
    shutil.copytree(REPOSITORY / "deploy/debian/etc", root / "etc/touchsync")
    return root


def analyze(*arguments):
    return subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True)


UNIT_NAMES = [*(f"touchsync-{stage}@1.service" for stage in STAGES), "touchsync-monitor.service"]


@pytest.mark.parametrize("unit", UNIT_NAMES)
def test_systemd_accepts_a_unit(root, unit):
    done = analyze("verify", f"--root={root}", "--man=no", unit, "touchsync.target")
    assert (done.returncode, done.stdout + done.stderr) == (0, ""), done


@pytest.mark.parametrize("unit", UNIT_NAMES)
def test_a_daemon_is_confined(root, unit):
    done = analyze("security", "--offline=true", f"--root={root}", "--threshold=20", unit)
    level = re.search(r"Overall exposure level for .*: ([0-9.]+)", done.stdout)
    assert done.returncode == 0 and level and float(level[1]) <= 2.0, done.stdout + done.stderr


@pytest.mark.parametrize("stage", STAGES)
def test_a_daemon_accepts_its_settings(root, stage, tmp_path):
    unit = f"touchsync-{stage}@2.service"
    variables = environment(unit, 2, root)
    config = (root / "etc/touchsync/touchsync.json").read_text().replace("/etc/touchsync", f"{root}/etc/touchsync")
    (tmp_path / "touchsync.json").write_text(config)
    variables["TOUCHSYNC_CONFIG"] = str(tmp_path / "touchsync.json")
    done = subprocess.run(
        [PROGRAMS / f"touchsync-{stage}", "--print-config"], env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"name = {stage}-2 " in done.stdout


def test_the_monitor_accepts_its_settings(root, tmp_path):
    variables = environment("touchsync-monitor.service", 1, root)
    variables["TOUCHSYNC_CONFIG"] = str(root / "etc/touchsync/touchsync.json")
    done = subprocess.run(
        [PROGRAMS / "touchsync", "monitor", "--print-config"], env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "daemons = /etc/touchsync/daemons.json " in done.stdout and "admin-port = 9400 " in done.stdout


def test_instances_of_a_machine_share_no_port_and_no_socket(root):
    places = [
        environment(f"touchsync-{stage}@{instance}.service", instance, root)[name]
        for stage in STAGES
        for instance in (1, 2)
        for name in ("TOUCHSYNC_ADMIN_PORT", "TOUCHSYNC_PORT" if stage == "gateway" else "TOUCHSYNC_BIND")
    ]
    assert len(set(places)) == len(places) == 16, places


def test_the_watchdog_is_more_patient_than_a_drain():
    service = settings("touchsync-gateway@1.service", 1)
    drain = int(re.search(r"endLatest\(in: (\d+)\)", (REPOSITORY / "Shared/Boot/Process/DaemonMain.swift").read_text())[1])
    for name in ("WatchdogSec", "TimeoutStopSec"):
        assert int(service[name][0].removesuffix("s")) > drain
