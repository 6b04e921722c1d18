"""What it costs to draw 300 elements that others move, or that move by themselves, at 60 frames a second."""

import contextlib
import os
import pathlib
import subprocess

import pytest

PUBLISHERS, PREVIEWS, SECONDS = 300, 30, 10
TICK = os.sysconf("SC_CLK_TCK")
HERE = pathlib.Path(__file__).resolve().parent


@contextlib.contextmanager
def publishers(group):
    """A server where gestures move groups of elements, or with groups of 0 all play by themselves; its URL."""
    environment = {**os.environ, "NODE_PATH": "/usr/share/nodejs"}
    command = ["node", HERE / "publishers.mjs", str(PUBLISHERS), str(PREVIEWS), str(group)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.communicate("")


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


# Groups, and the share of a core that is too much; what is drawn is in the transcript of motion. A page that only asks for
# frames takes 5 %. The figures are in the clients' pages.
@pytest.mark.timed
@pytest.mark.parametrize("group, bound", [(1, 0.3), (30, 0.3), (0, 0.2)], ids=["alone", "in-groups", "by-themselves"])
def test_what_moves_costs_little(clients, group, bound):
    with publishers(group) as url:
        ada = clients(url, "ada").enter("publishers")
        share, count = max((measured(ada) for _ in range(3)), key=lambda result: result[1]["frames"])
    assert share < bound
    # The last of each frame's elements may have come to rest.
    assert count["frames"] > 30 * SECONDS and count["drawn"] > 0.9 * PUBLISHERS * count["frames"]


def measured(client):
    """The share of a core that a client takes, and what it drew meanwhile."""
    before = {pid: cpu_seconds(pid) for pid in client.pids()}
    count = client.start("watch", "publishers", SECONDS)(within=SECONDS * 3)
    share = sum(cpu_seconds(pid) - start for pid, start in before.items()) / SECONDS
    print(f"{share:.1%} of a core for {count['drawn']} elements in {count['frames']} frames")
    return share, count
