"""The load generator against the pipeline: it recognises what the gateway sends, and counts all of it."""

import re
import subprocess

import pytest


@pytest.fixture
def bench(programs, single):
    """Runs the load generator; its counts and latencies by their names, and its report."""

    def run(*arguments):
        command = [programs / "bench", "--data", single.data, "--warm-up", "1", "--duration", "2", *arguments]
        text = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True).stdout
        assert "MISSING" not in text and "refused" not in text, text
        return {name: float(first) for name, first in re.findall(r"^  (\S+(?: \S+)*)  +([\d.]+) ", text, re.M)}, text

    return run


@pytest.mark.parametrize("more", [(), ("--batches",)], ids=["alone", "batches"])
def test_what_is_sent_arrives_with_its_age(bench, more):
    counts, text = bench("--rooms", "2", "--members", "5", "--commits", "20", *more)
    expected = 4 * counts["previews sent"]
    # Some are under way when the measurement begins and when it ends.
    arrived = counts["previews delivered"] + counts.get("previews merged", 0)
    assert 0.7 * expected < arrived < 1.3 * expected, text
    assert counts["commits acknowledged"] > 0 and counts["commits delivered"] > 0, text
    assert {"preview age", "commit to ack", "commit to screen"} <= counts.keys(), text
    # No time before the run, and no other number that is taken for one.
    assert counts["preview age"] < 10_000 and counts["commit to screen"] < 10_000, text
    assert "gateway-1" in counts and "all" in counts, text


def test_gestures_of_elements_and_groups_are_previews_with_their_age(bench):
    _, text = bench("--preset", "gestures", "--rooms", "1", "--duration", "4")
    values, deltas = text.split("gestures, deltas:")
    assert "commit to screen" in values, text
    for name in ("preview age", "commit to ack", "group to ack"):
        assert name in deltas, text
