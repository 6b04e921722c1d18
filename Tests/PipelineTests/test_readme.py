"""The code of README.md and of the API's page on HTTP, run as it is printed, but for the port."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest
import requests

from pages import blocks

ROOT = pathlib.Path(__file__).parents[2]
ADDRESS = "http://127.0.0.1:8080"


@pytest.fixture
def alone(beside):
    """A pipeline in which nobody used the rooms that the pages name."""
    with beside() as pipeline:
        yield pipeline


@pytest.fixture
def run(alone):
    """Starts printed code, with a shell or Python; all of it ends with the test."""
    started = []

    def start(program, code):
        process = subprocess.Popen(
            [*program, code.replace(ADDRESS, alone.url)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True)
        started.append(process)
        return process

    yield start
    for process in started:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.communicate()


def lines_until(process, *wanted):
    """What it prints, up to the line with the last of what is wanted."""
    found = []
    while wanted:
        line = process.stdout.readline()
        assert line, "".join(found)
        found.append(line)
        while wanted and wanted[0] in line:
            wanted = wanted[1:]
    return "".join(found)


def test_the_client_in_python(alone, run):
    turns, throw = blocks(ROOT / "README.md", "A client", "python")
    first, second = (run([sys.executable, "-uc"], turns) for _ in range(2))
    lines_until(first, "{'ok': True")
    lines_until(second, "moving note-1", "moved")
    # The throw has its place before the loop, which does not end.
    head, _ = turns.split("while True:")
    thrown = run([sys.executable, "-uc"], head + throw.replace("app.call(", "print(app.call(", 1).rstrip() + ")")
    assert "'motion'" in lines_until(thrown, "{'ok': True")


def test_back_ends_with_curl(alone, run):
    requests.post(f"{alone.url}/api/rooms/demo/elements", json={"type": "note", "id": "note-1"}, timeout=5)
    [code] = blocks(ROOT / "README.md", "A client", "sh")
    follow, delete = code.strip().split(" &\n")
    stream = run(["bash", "-c"], follow)
    lines_until(stream, "event: room:reset", '"id":"note-1"')
    assert '"ok":true' in run(["bash", "-c"], delete).communicate(timeout=10)[0]
    lines_until(stream, "event: element:deleted")


def test_the_api_with_curl(alone, run):
    [code] = blocks(ROOT / "Services/Gateway/API.md", "HTTP", "sh")
    # The room is read before anything is in it.
    output = lines_until(run(["bash", "-ec"], code), '"code":"not_found"', '"positionX":30', '"entries":[', "event: room:reset")
    assert output.count('"ok":true') == 2, output
