"""The parts of the canvas that decide, without a page, and the types of all of them."""

import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent.parent / "Pages"


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("part", sorted(HERE.glob("*.mjs")), ids=lambda path: path.stem)
def test_a_part(part):
    run("node", "--import", HERE / "loaders" / "client.mjs", part)


def test_types():
    run("tsc", "--project", HERE)
