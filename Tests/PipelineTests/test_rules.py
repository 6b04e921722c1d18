"""The rules file: read again while the daemons run, whatever replaces it; a wrong one is refused and named."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import pytest
import requests

import pipeline as pipelines
from app import fence
from pipeline import eventually


class Rules:
    """A pipeline that follows a rules file."""

    def __init__(self, pipeline, path):
        self.pipeline = pipeline
        self.path = path

    @property
    def daemons(self):
        return self.pipeline.processes("committer") + self.pipeline.processes("fanout")

    def count(self, outcome):
        """How often each daemon read the file with that outcome."""
        name = f'touchsync_file_reloads_total{{file="rules",outcome="{outcome}"}}'
        return [self.pipeline.metrics(stage)[name] for stage in ("committer", "fanout")]

    def notes(self, stage, check="rules"):
        """A daemon's notes; it must be ready whatever they say."""
        answer = requests.get(self.pipeline.processes(stage)[0]["http"] + "/readyz", timeout=5)
        assert answer.status_code == 200, answer.text
        return [note["reason"] for note in answer.json().get("notes", []) if note["check"] == check]

    def log(self, stage):
        return (self.pipeline.data / "log" / f"{stage}-1.log").read_text()

    def write(self, text):
        self.path.write_text(text)

    def rename(self, text):
        draft = self.path.with_name("draft")
        draft.write_text(text)
        draft.rename(self.path)

    def hang_up(self, text):
        """Read immediately, not only when the file has settled."""
        self.path.write_text(text)
        for daemon in self.daemons:
            os.kill(daemon["pid"], signal.SIGHUP)

    def replace(self, how, text, outcome="changed"):
        """Replaces the file and waits until both daemons have read it."""
        before = self.count(outcome)
        getattr(self, how)(text)
        eventually(
            f"the file is {outcome}",
            lambda: all(now > was for now, was in zip(self.count(outcome), before, strict=True)),
        )


@pytest.fixture(scope="module")
def rules(beside):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "rules.json"
        path.write_text("{}")
        with beside("--rules", path) as pipeline:
            yield Rules(pipeline, path)


@pytest.fixture
def canvas(rules, apps, room):
    """Ada and Bob in a room with a note."""
    ada, bob = apps(rules.pipeline.url, "ada"), apps(rules.pipeline.url, "bob")
    ada.join(room)
    bob.join(room)
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "n"}})
    return ada, bob


def scales(ada, bob, room):
    """What a commit and a preview that ask for a scale of 50 come to."""
    fields = {"roomId": room, "elementId": "n", "transform": {"scaleX": 50, "scaleY": 50}}
    stored = ada.ok("element:transform", fields)["element"]["scaleX"]
    bob.forget()
    ada.send("element:transforming", fields)
    shown = bob.wait("element:transforming")["transform"]["scaleX"]
    return stored, shown


# RulesFileTests has every way to replace a file; a hang-up is the daemons' own.
@pytest.mark.parametrize("how, scale", [("rename", 4), ("hang_up", 7)])
def test_a_new_range_holds_for_commits_previews_and_joins(rules, canvas, apps, room, how, scale):
    ada, bob = canvas
    rules.replace(how, json.dumps({"note": {"maxScale": scale}}))
    assert scales(ada, bob, room) == (scale, scale)
    assert apps(rules.pipeline.url, "cid").join(room)["rules"]["note"]["maxScale"] == scale
    for stage in ("committer", "fanout"):
        assert f"→ {scale}" in rules.log(stage)
        assert rules.notes(stage) == []


def test_a_preview_on_its_way_is_not_lost(rules, canvas, room):
    ada, bob = canvas
    rules.replace("hang_up", json.dumps({"note": {"maxScale": 8}}))
    for index in range(20):
        fields = {"roomId": room, "elementId": "n", "transform": {"scaleX": 5 + index / 10}}
        ada.send("element:transforming", fields)
        if index == 10:
            rules.hang_up(json.dumps({"note": {"maxScale": 6}}))
        time.sleep(0.02)
    last = bob.wait("element:transforming", lambda preview: preview["transform"]["scaleX"] == 6)
    assert last["elementId"] == "n"
    fence(room, ada, bob)


WRONG = '{\n "note": {\n  "minScale": 5,\n  "maxScale": 2}\n}'
REASON = "line 4, note.maxScale"


def test_a_wrong_file_is_refused_and_named(rules, canvas, room):
    ada, bob = canvas
    rules.path.unlink()
    rules.replace("write", json.dumps({"note": {"maxScale": 2.5}}))
    rules.replace("write", WRONG, outcome="refused")
    assert scales(ada, bob, room) == (2.5, 2.5)
    for stage in ("committer", "fanout"):
        assert REASON in rules.notes(stage)[0]
        assert REASON in rules.log(stage)
        assert rules.pipeline.metrics(stage)['touchsync_file_refused{file="rules"}'] == 1


def test_a_repetition_gets_the_first_result_under_new_rules(rules, canvas, apps, room):
    app = apps(rules.pipeline.url, "eve")
    session = app.join(room)["session"]
    rules.replace("rename", json.dumps({"note": {"maxScale": 9}}))
    fields = {"roomId": room, "elementId": "n", "transform": {"scaleX": 50}, "n": 1}
    first = app.ok("element:transform", fields)
    assert first["adjusted"][0]["stored"] == 9
    for scale in (2, 90):
        rules.replace("rename", json.dumps({"note": {"maxScale": scale}}))
        # Another connection, as its gateway remembers no answer.
        again = apps(rules.pipeline.url, "eve")
        again.join(room, session=session)
        repeated = again.ok("element:transform", fields)
        assert repeated.pop("duplicate") is True
        assert repeated == first


def test_the_settings_check_names_the_line(rules):
    wrong = rules.path.with_name("wrong.json")
    wrong.write_text(WRONG)
    for program in ("touchsync-committer", "touchsync-fanout"):
        done = subprocess.run(
            [str(pipelines.PROGRAMS / program), "--check-config", "--bind", "ipc:///tmp/x", "--rules", str(wrong)],
            capture_output=True, text=True, timeout=10, env={**rules.pipeline.environment, "DATABASE_URL": "dbname=x"},
        )
        assert done.returncode == 78
        assert f"--rules: {REASON}" in done.stderr


def test_a_committer_with_other_rules_is_named(rules):
    """A further committer, with a file of its own."""
    check = "rules of committers"
    metric = "touchsync_fanout_rules_differing_committers"
    rules.replace("rename", json.dumps({"note": {"maxScale": 5.5}}))
    eventually("all agree", lambda: rules.notes("fanout", check) == [])
    other = rules.path.with_name("other.json")
    other.write_text("{}")
    socket = rules.path.with_name("committer-9.sock")
    fanout = f"fanout-1=ipc://{rules.pipeline.data}/run/fanout-1.sock"
    committer = subprocess.Popen(
        [str(pipelines.PROGRAMS / "touchsync-committer"), "--allow-root", "--name", "committer-9", "--bind", f"ipc://{socket}",
         "--fanouts", fanout, "--rules", str(other), "--log-level", "error"],
        env={**rules.pipeline.environment, "DATABASE_URL": rules.pipeline.report["database"]},
    )
    try:
        eventually("it is named", lambda: "committer-9" in "".join(rules.notes("fanout", check)))
        assert rules.pipeline.metrics("fanout")[metric] == 1
        other.write_text(rules.path.read_text())
        eventually("all agree again", lambda: rules.notes("fanout", check) == [])
        assert rules.pipeline.metrics("fanout")[metric] == 0
        other.write_text("{}")
        eventually("it is named again", lambda: rules.notes("fanout", check))
    finally:
        committer.terminate()
        committer.wait(20)
    eventually("it is gone", lambda: rules.notes("fanout", check) == [])
