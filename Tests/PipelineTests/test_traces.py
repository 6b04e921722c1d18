"""A commit's trace in the logs of every stage, and the handbook's command that shows it."""

import contextlib
import json
import pathlib
import re
import secrets
import subprocess

import pytest
import requests

from pipeline import Overdue, eventually

STEPS = {
    "commit accepted": "gateway", "commit sent": "gateway", "commit received": "committer", "commit decided": "committer",
    "commit answered": "committer", "commit acknowledged": "gateway", "update applied": "fanout", "update delivered": "gateway",
}


def traceparent(flags="01"):
    return f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-{flags}"


def steps_of(pipeline, trace):
    """What the daemons logged of a trace, in either format, in the order of its times."""
    steps = []
    for path in (pipeline.data / "log").glob("*.log"):
        for line in path.read_text(errors="replace").splitlines():
            if trace not in line:
                continue
            if line.startswith("{"):
                entry = json.loads(line)
                time, daemon, step, facts = entry["time"], entry["name"], entry["message"], entry["fields"]
            else:
                time, daemon, step, rest = re.fullmatch(r"(\S+) INFO (\S+) (.+?)((?: \S+=\S+)+)", line).groups()
                facts = dict(fact.split("=", 1) for fact in rest.split())
            steps.append({"time": time, "step": step, "daemon": daemon, **facts})
    return sorted(steps, key=lambda step: step["time"])


def ways_of(pipeline, trace):
    """The steps of each commit of a trace. Those of its update name no commit, but its place in the room."""
    ways = {}
    for step in steps_of(pipeline, trace):
        if "commit.n" in step:
            ways.setdefault((step["commit.session"], int(step["commit.n"])), []).append(step)
    for step in steps_of(pipeline, trace):
        if "commit.n" not in step:
            [way] = [way for way in ways.values() if any(own.get("commit.seq") == step["commit.seq"] for own in way)]
            way.append(step)
    return [ways[key] for key in sorted(ways)]


def commits(pipeline, parent, count=1, steps=len(STEPS), within=10.0):
    """The commits of a trace, once all their lines are in the files."""
    trace = parent.split("-")[1]

    def found():
        with contextlib.suppress(ValueError):
            ways = ways_of(pipeline, trace)
            return len(ways) == count and all(len(way) >= steps for way in ways) and ways

    try:
        return eventually(f"{count} commits of {parent} in the logs", found, within)
    except Overdue:
        # Which steps are missing.
        print(*steps_of(pipeline, trace), sep="\n")
        raise


def warm_up(pipeline, app, room, element):
    """Commits until one was seen everywhere: as long as a new fan-out catches up it reads the log, which keeps no traces."""
    for _ in range(10):
        parent = traceparent()
        app.ok("element:transform", {"roomId": room, "elementId": element, "positionX": 1, "traceparent": parent})
        with contextlib.suppress(Overdue):
            return commits(pipeline, parent, within=2)
    raise Overdue("no commit was seen everywhere")


def metric(pipeline, name):
    gateway = next(process for process in pipeline.report["processes"] if process["stage"] == "gateway")
    text = pipeline.admin(gateway, "/metrics").text
    return float(re.search(rf"^{name} (\S+)$", text, re.MULTILINE)[1])


def assert_whole(way):
    """Every stage's steps, in order, on one machine with one clock."""
    assert sorted(step["step"] for step in way) == sorted(STEPS), way
    # The acknowledgement and the update are under way at the same time.
    times = {step["step"]: step["time"] for step in way}
    for others in ({"commit acknowledged"}, {"update applied", "update delivered"}):
        ordered = [times[name] for name in STEPS if name not in others]
        assert ordered == sorted(ordered), way
    assert all(re.sub(r"-\d+$", "", step["daemon"]) == STEPS[step["step"]] for step in way), way


@pytest.mark.parametrize("how", [["--log-format", "json"], []], ids=["json", "text"])
def test_a_commits_way_through_all_stages(beside, apps, room, how):
    with beside(*how) as pipeline:
        ada = apps(pipeline.url, "ada")
        ada.join(room)
        parent = traceparent()
        ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "e"}})
        warm_up(pipeline, ada, room, "e")
        ada.send("element:transforming", {"roomId": room, "elementId": "e", "positionX": 4})
        done = ada.ok("element:transform", {"roomId": room, "elementId": "e", "positionX": 5, "n": 1, "traceparent": parent})
        [way] = commits(pipeline, parent)
        assert_whole(way)
        by_step = {step["step"]: step for step in way}
        accepted = by_step["commit accepted"]
        assert (accepted["commit.room"], accepted["commit.n"]) == (room, "1")
        assert accepted["commit.event"] == "element:transform"
        delivered = by_step["update delivered"]
        assert delivered["commit.seq"] == str(done["seq"]) and delivered["update.members"] == "1"
        if how:
            # Steps within a microsecond come in any order.
            assert sorted(line.split("\t")[2] for line in shown(pipeline, parent)) == sorted(step["step"] for step in way)


def shown(pipeline, parent):
    """What the handbook's command prints of a trace."""
    handbook = pathlib.Path(__file__).parents[2] / "Services/HANDBOOK.md"
    [command] = re.findall(r"^jq .*$", handbook.read_text(), re.MULTILINE)
    command = command.replace("TRACE", parent.split("-")[1]).replace("DATA", str(pipeline.data))
    return subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout.splitlines()


def test_a_request_over_http(single, two, room):
    parent = traceparent()
    answer = requests.post(
        f"{single.url}/api/rooms/{room}/elements", timeout=10, json={"type": "note"}, headers={"traceparent": parent})
    assert answer.status_code == 201
    [way] = commits(single, parent)
    assert_whole(way)
    assert way[0]["commit.event"] == "element:create" and way[-1]["commit.seq"] == str(answer.json()["seq"])


def test_a_room_without_members(single, room):
    parent = traceparent()
    answer = requests.post(
        f"{single.url}/api/rooms/{room}/elements", timeout=10, json={"type": "note"}, headers={"traceparent": parent})
    assert answer.status_code == 201
    [way] = commits(single, parent, steps=len(STEPS) - 2)
    assert not {step["step"] for step in way} & {"update applied", "update delivered"}


@pytest.mark.parametrize("header", ["", "00-1-2-01", "00-" + "0" * 32 + "-00f067aa0ba902b7-01", "x" * 200])
def test_a_malformed_header_is_ignored(single, room, header):
    answer = requests.post(
        f"{single.url}/api/rooms/{room}/elements", timeout=10, json={"type": "note"}, headers={"traceparent": header})
    assert answer.status_code == 201, answer.text


def test_another_traceparent_is_the_same_commit(single, apps, room):
    ada = apps(single.url, "ada")
    ada.join(room)
    create = {"roomId": room, "element": {"type": "note", "id": "e"}, "n": 1}
    first = ada.ok("element:create", {**create, "traceparent": traceparent()})
    again = ada.ok("element:create", {**create, "traceparent": traceparent()})
    assert again["duplicate"] is True and again["seq"] == first["seq"]
    # One that cannot be read is the same, too.
    faulty = {"roomId": room, "elementId": "", "positionX": 1, "n": 2}
    errors = [
        ada.refused("element:transform", {**faulty, **extra}, "invalid", "elementId")
        for extra in ({}, {"traceparent": traceparent()}, {"traceparent": traceparent("00")})
    ]
    assert errors[0] == errors[1] == errors[2]


def test_one_trace_of_several_commits(single, apps, room):
    ada = apps(single.url, "ada")
    ada.join(room)
    parent = traceparent()
    for n in (1, 2):
        ada.ok("element:create", {"roomId": room, "element": {"type": "note"}, "n": n, "traceparent": parent})
    ways = commits(single, parent, count=2)
    assert [way[0]["commit.n"] for way in ways] == ["1", "2"]
    for way in ways:
        assert_whole(way)


def test_a_share_of_one_traces_all_and_a_limit_holds(beside, apps, room):
    with beside("--trace-share", 1, "--traces-per-second", 5) as pipeline:
        ada = apps(pipeline.url, "ada")
        ada.join(room)
        for _ in range(20):
            ada.ok("element:create", {"roomId": room, "element": {"type": "note"}})
        traced, over = "touchsync_gateway_commits_traced_total", "touchsync_gateway_traces_over_rate_total"
        eventually("all are counted", lambda: metric(pipeline, traced) + metric(pipeline, over) == 20)
        assert 5 <= metric(pipeline, traced) < 20

        def accepted():
            text = "".join(path.read_text() for path in (pipeline.data / "log").glob("gateway-*.log"))
            return set(re.findall(r"commit accepted .*trace\.id=([0-9a-f]{32})", text))

        eventually("each has a trace of its own", lambda: len(accepted()) == metric(pipeline, traced))
        [way] = commits(pipeline, f"00-{sorted(accepted())[0]}")
        assert_whole(way)
