"""A commit's trace in the logs of every stage, and the operator's command that shows it."""

import contextlib
import json
import re
import secrets

import pytest
import requests

from pipeline import Overdue, eventually
from test_face import BackEnd

STEPS = {
    "commit accepted": "gateway", "commit sent": "gateway", "commit forwarded": "coalescer", "commit received": "committer",
    "commit decided": "committer", "commit answered": "committer", "commit acknowledged": "gateway", "update applied": "fanout",
    "update delivered": "gateway",
}
# Those of a commit that ends no gesture: it goes straight to the committer.
STRAIGHT = [step for step in STEPS if step != "commit forwarded"]


def traceparent(flags="01"):
    return f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-{flags}"


def trace_of(pipeline, parent, *more):
    return pipeline.touchsync("trace", parent.split("-")[1], "--data", str(pipeline.data), "--json", *more, check=False)


def commits(pipeline, parent, count=1, steps=len(STRAIGHT), within=10.0):
    """The commits of a trace, once all their lines are in the files."""

    def found():
        done = trace_of(pipeline, parent)
        ways = json.loads(done.stdout)["commits"] if done.returncode == 0 else []
        return len(ways) == count and all(len(way["steps"]) >= steps for way in ways) and ways

    try:
        return eventually(f"{count} commits of {parent} in the logs", found, within)
    except Overdue:
        # Which steps are missing.
        print(trace_of(pipeline, parent).stdout)
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


def assert_whole(way, steps=STRAIGHT):
    """Every stage's steps, in order, on one machine with one clock."""
    assert sorted(step["step"] for step in way["steps"]) == sorted(steps), way
    # The acknowledgement and the update are under way at the same time.
    by_step = {step["step"]: step for step in way["steps"]}
    for others in ({"commit acknowledged"}, {"update applied", "update delivered"}):
        times = [by_step[name]["sinceAcceptedUs"] for name in steps if name not in others]
        assert times == sorted(times) and times[0] == 0, way
    assert all(re.sub(r"-\d+$", "", step["daemon"]) == STEPS[step["step"]] for step in way["steps"]), way
    assert way["missing"] == [] and "clocksDifferByUs" not in way, way


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
        [way] = commits(pipeline, parent, steps=len(STEPS))
        assert_whole(way, list(STEPS))
        assert (way["room"], way["n"], way["seq"], way["event"]) == (room, 1, done["seq"], "element:transform")
        [delivered] = [step for step in way["steps"] if step["step"] == "update delivered"]
        assert delivered["update.members"] == "1"
        text = pipeline.touchsync("trace", parent, "--data", str(pipeline.data)).stdout
        assert f"commit 1 of session {way['session']} in room {room}" in text
        assert all(step in text for step in STEPS) and "Not found" not in text
        # The files themselves, as when several machines wrote them.
        logs = sorted(str(path) for path in (pipeline.data / "log").glob("*.log"))
        again = pipeline.touchsync("trace", parent, "--json", "--logs", *logs).stdout
        assert json.loads(again)["commits"] == [way]


def test_a_request_over_http(single, two, room):
    parent = traceparent()
    answer = requests.post(
        f"{single.url}/api/rooms/{room}/elements", timeout=10, json={"type": "note"}, headers={"traceparent": parent})
    assert answer.status_code == 201
    [way] = commits(single, parent)
    assert_whole(way)
    assert way["event"] == "element:create" and way["seq"] == answer.json()["seq"]


def test_a_room_without_members(single, room):
    parent = traceparent()
    answer = requests.post(
        f"{single.url}/api/rooms/{room}/elements", timeout=10, json={"type": "note"}, headers={"traceparent": parent})
    assert answer.status_code == 201
    [way] = commits(single, parent, steps=len(STRAIGHT) - 2)
    assert way["missing"] == ["update applied", "update delivered"]
    assert "A room without members" in single.touchsync("trace", parent, "--data", str(single.data)).stdout


@pytest.mark.parametrize("header", ["", "00-1-2-01", "00-" + "0" * 32 + "-00f067aa0ba902b7-01", "x" * 200])
def test_a_malformed_header_is_ignored(single, room, header):
    answer = requests.post(
        f"{single.url}/api/rooms/{room}/elements", timeout=10, json={"type": "note"}, headers={"traceparent": header})
    assert answer.status_code == 201, answer.text


def test_a_back_end_over_zeromq(single, face, apps, room):
    apps(single.url, "ada").join(room)
    back_end = BackEnd(face, "robot")
    back_end.call("room:join", {"roomId": room})
    parent = traceparent()
    answer = back_end.call("element:create", {"roomId": room, "element": {"type": "note"}, "traceparent": parent})
    assert answer["ok"], answer
    [way] = commits(single, parent)
    assert_whole(way)
    back_end.socket.close()


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
    assert [way["n"] for way in ways] == [1, 2]
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

        # Where the time of all of them goes.
        def summary():
            done = pipeline.touchsync("trace", "--data", str(pipeline.data), "--json")
            return {row["step"]: row for row in json.loads(done.stdout)["steps"]}

        count = len(accepted())
        rows = eventually("all are counted", lambda: (
            (rows := summary()) and rows["accepted to delivered"]["commits"] == count and rows))
        assert rows["commit answered"]["commits"] == count and rows["commit answered"]["longestIn"] in accepted()
        assert 0 < rows["commit answered"]["p50Us"] <= rows["accepted to acknowledged"]["maxUs"]


def test_an_unknown_trace(single):
    done = trace_of(single, traceparent())
    assert done.returncode == 1 and "no line of the trace" in done.stderr
    done = single.touchsync("trace", "4BF92F", check=False)
    assert done.returncode != 0 and "32 lower-case hexadecimal digits" in done.stderr
