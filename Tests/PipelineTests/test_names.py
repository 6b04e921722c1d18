"""The names that operators write down: of settings and of metrics."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = os.environ["TOUCHSYNC_PROGRAMS"]
DAEMONS = {
    "gateway": ["touchsync-gateway"],
    "coalescer": ["touchsync-coalescer"],
    "committer": ["touchsync-committer"],
    "fanout": ["touchsync-fanout"],
    "monitor": ["touchsync", "monitor"],
    "up": ["touchsync", "up"],
}


def released(name):
    """The lines of a file of `Tests/Golden`."""
    return set((ROOT / "Tests/Golden" / name).read_text().splitlines())


def test_the_pages_have_the_settings_of_the_programs():
    script = ROOT / "Services" / "settings.py"
    check = subprocess.run([sys.executable, script, PROGRAMS, "--check"], capture_output=True, text=True)
    assert check.returncode == 0, check.stderr


def test_released_settings_are_still_there():
    today = set()
    for daemon, command in DAEMONS.items():
        text = subprocess.run(
            [f"{PROGRAMS}/{command[0]}", *command[1:], "--help"], check=True, capture_output=True, text=True
        ).stdout
        today |= {f"{daemon} {name}" for name in re.findall(r"^  --([\w-]+)", text, re.MULTILINE)}
    assert not released("settings.txt") - today


@pytest.mark.parametrize("stage", ["gateway", "coalescer", "committer", "fanout", "monitor"])
def test_released_metrics_are_still_there(single, stage):
    """Each with its kind, and with the names of its labels where it has a value from the start."""
    text = single.admin(single.processes(stage)[0], "/metrics").text
    today = set(re.findall(r"^# TYPE (\w+ \w+)$", text, re.MULTILINE))
    for name, labels in re.findall(r"^(\w+)\{(.*)\} ", text, re.MULTILINE):
        today.add(" ".join([name, *sorted(re.findall(r"(\w+)=", labels))]))
    if not released(f"metrics-{stage}.txt") <= today:
        print("\n".join(sorted(today)))
    assert not released(f"metrics-{stage}.txt") - today
