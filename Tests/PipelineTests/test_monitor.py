"""The monitor: what its page names, who sees it, how it looks; and the metrics that it is made of."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess

import psycopg
import pytest
import requests

import operators
import pipeline as pipelines
import ports
from browsed import BrowsedPage
from pipeline import eventually
from test_slow_readers import Sluggard, fill

TOKEN = "an-operators-token-of-at-least-thirty-two-characters"
# How soon the page names what is wrong.
SOON = 5.0


@pytest.fixture(scope="module")
def observed(beside):
    """A pipeline that may be hurt."""
    with beside() as pipeline:
        yield pipeline


@pytest.fixture
def page(observed, chromium):
    """The page, on which all is well."""
    page = BrowsedPage(chromium, link(observed))
    is_well(page)
    yield page
    assert page.complaints == []
    page.close()


@pytest.fixture
def ada(observed, apps, room):
    ada = apps(observed.url, "ada")
    ada.join(room)
    return ada


def problems(page):
    return page.text("#problems h2")


def names(page, title):
    """Waits until the page names a problem; returns its words."""
    eventually(f"the page names {title!r}", lambda: title in problems(page), within=SOON)
    return page.text(".problem")[problems(page).index(title)]


def is_well(page, within=20.0):
    try:
        eventually("all is well", lambda: page.text("#state") == ["All is well"], within=within)
    except pipelines.Overdue:
        raise pipelines.Overdue(f"not well: {page.text('#state, .problem')} {page.complaints}") from None


def link(pipeline):
    """What `touchsync up` prints for a person."""
    return pipeline.monitor + "/#token=" + (pipeline.data / "operator-token").read_text().strip()


def asked(pipeline, path, within=5, **parameters):
    """The answer to an operator."""
    return requests.get(pipeline.monitor + path, parameters, headers=pipeline.operator, timeout=within)


def overview(pipeline, **headers):
    return requests.get(pipeline.monitor + "/overview", headers=headers, timeout=5)


# What it names


def test_a_slow_committer_is_named(observed, page, ada, room):
    note = {"roomId": room, "element": {"type": "note"}}
    ada.ok("element:create", note)
    with psycopg.connect(observed.report["database"]) as connection:
        connection.execute("select from shards for update")
        answer = ada.start("element:create", note)
        words = names(page, "Slow database: committer-1")
        assert "1 commit waits for PostgreSQL" in words and "HANDBOOK.md#slow-database" in words
        assert page.run("document.querySelector('[data-node=committer]').classList.contains('bad')")
    assert answer.result(10)["ok"]
    is_well(page)


def test_a_frozen_coalescer_is_named_and_its_outage_stays_visible(observed, page):
    frozen = observed.kill("coalescer", 0, signal.SIGSTOP)
    try:
        words = names(page, "Daemon silent: coalescer-1")
        assert "HANDBOOK.md#daemon-silent" in words
        path, section = page.run("document.querySelector('.problem a').getAttribute('href')").split("#")
        handbook = requests.get(observed.monitor + path, timeout=5)
        assert handbook.status_code == 200 and f'<h2 id="{section}">Daemon silent</h2>' in handbook.text
        assert page.text("[data-node=coalescer] .instance") == ["coalescer-1: silent"]
        eventually("5 s have passed", lambda: re.fullmatch(r"for ([5-9]\.\d|\d\d) s", page.text(".problem .since")[0]), within=8)
    finally:
        os.kill(frozen["pid"], signal.SIGCONT)
    is_well(page)
    past = page.text("#past li")
    assert any(line.startswith("Daemon silent: coalescer-1 for ") for line in past), past
    bar = page.run("document.querySelector('#timeline [data-key=\"bar coalescer/coalescer-1\"]').getAttribute('aria-label')")
    assert "silent for " in bar


def test_a_slow_app_is_named(observed, page, ada, room):
    slow = Sluggard(observed.url, "slow", room)
    try:
        fill(ada, room, 12)
        words = names(page, "Slow apps: gateway-1")
        assert "HANDBOOK.md#slow-apps" in words
    finally:
        slow.socket.close()
    is_well(page, within=30)


def test_each_finding_has_its_section_in_the_handbook(observed):
    root = pathlib.Path(__file__).resolve().parents[2]
    troubles = (root / "Services/Operator/Monitor/Model/Findings/Trouble.swift").read_text()
    anchors = {line.split('"')[1] for line in troubles.splitlines() if line.startswith("    case ") and ' = "' in line}
    headings = (root / "Services/HANDBOOK.md").read_text().splitlines()
    sections = {line[3:].lower().replace(" ", "-") for line in headings if line.startswith("## ")}
    # Only Prometheus looks at the day on which a certificate ends, at what happened some minutes ago, at clocks, and at what
    # keeps the database.
    elsewhere = {"certificate-expires", "foreign-sessions", "history-changed", "memory-budget-exceeded", "settings-differ"}
    elsewhere |= {"clocks-differ", "database-keeper-down", "no-quorum", "no-standby", "upkeep-fails"}
    # The monitor does not watch itself.
    elsewhere.add("monitor-shows-nothing")
    assert sections - elsewhere == anchors


# What it is made of


def test_who_has_read_it_before_gets_what_is_new(observed):
    def history(since):
        return asked(observed, "/overview", since=since).json()["history"]

    eventually("there are two columns", lambda: history(2**53)["from"] > history(0)["from"], within=12)
    since = history(2**53)["from"]
    assert history(since)["from"] == since


def test_a_fanout_is_asked_for_the_room_that_was_named(observed, ada, room):
    found = asked(observed, "/rooms", id=room)
    assert found.status_code == 200 and found.json()["roomId"] == room
    # A name with a parameter in it is one name.
    assert asked(observed, "/rooms", id=room + "&sort=bytes").status_code == 404


def test_a_fanout_that_does_not_answer_leaves_the_others_rooms(observed):
    frozen = observed.kill("fanout", 0, signal.SIGSTOP)
    try:
        answer = asked(observed, "/rooms", within=8).json()
        assert answer["silent"] == [{"fanout": frozen["name"], "reason": "gives no answer"}]
    finally:
        os.kill(frozen["pid"], signal.SIGCONT)


# Who sees it


def test_it_asks_for_the_token_and_its_own_name(observed):
    for headers in ({}, {"Authorization": "Bearer " + "0" * 64}, {"Authorization": observed.operator["Authorization"][7:]}):
        assert overview(observed, **headers).status_code == 401
    token = observed.operator["Authorization"].split()[1]
    assert requests.get(f"{observed.monitor}/rooms?token={token}", timeout=5).status_code == 401
    answer = overview(observed, **observed.operator)
    assert answer.status_code == 200 and answer.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in answer.headers
    for path in ("/", "/overview"):
        rebound = {**observed.operator, "Host": "rebound.example"}
        assert requests.get(observed.monitor + path, headers=rebound, timeout=5).status_code == 421
    page = requests.get(observed.monitor, timeout=5)
    assert page.status_code == 200 and "frame-ancestors 'none'" in page.headers["content-security-policy"]
    # Gateways, which strangers reach, have nothing of it.
    for path in ("/ops", "/ops/overview", "/overview", "/handbook", "/rooms"):
        assert requests.get(observed.url + path, headers=observed.operator, timeout=5).status_code == 404


def test_without_a_list_it_says_what_is_missing(observed, chromium, tmp_path):
    port = ports.free()
    command = [pipelines.PROGRAMS / "touchsync", "monitor", "--daemons", tmp_path / "none", "--admin-port", str(port)]
    environment = {**observed.environment, **operators.ENVIRONMENT, "TOUCHSYNC_ALLOW_ROOT": "true"}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        eventually("it is there", lambda: answers(f"http://127.0.0.1:{port}/readyz"))
        page = BrowsedPage(chromium, f"http://127.0.0.1:{port}/#token={operators.TOKEN}")
        eventually("it explains itself", lambda: "does not exist" in "".join(page.text("#off-text")), within=5)
        assert page.faults() == [] and page.complaints == []
        page.close()
    finally:
        process.terminate()
        assert process.wait(10) == 0


def answers(url):
    with contextlib.suppress(requests.RequestException):
        return requests.get(url, timeout=1).status_code == 200


def test_a_person_signs_in(beside, chromium):
    with beside("--operator-token", TOKEN) as pipeline:
        assert overview(pipeline, Authorization="Bearer " + TOKEN).status_code == 200
        sign_in(chromium, pipeline)
        assert TOKEN not in pipeline.log()


def sign_in(chromium, pipeline):
    page = BrowsedPage(chromium, pipeline.monitor + "/")
    eventually("it asks for the token", lambda: page.run("document.activeElement.id") == "token", within=5)
    assert page.faults() == []
    page.type("not the token")
    page.press("Enter")
    eventually("it is refused", lambda: page.text("#entry-error") == ["This is not the operator's token."], within=5)
    page.type(TOKEN)
    page.press("Enter")
    eventually("it is shown", lambda: page.text("#state") == ["All is well"], within=10)
    assert page.run("location.href") == pipeline.monitor + "/"
    page.run("document.getElementById('sign-out').click()")
    assert page.run("sessionStorage.length") == 0 and page.text("#overview") == []
    assert page.complaints == []
    page.close()


def test_a_link_with_the_token_leaves_none_in_the_address(observed, chromium):
    """Of a tab that is open already, too, which is not loaded again."""
    page = BrowsedPage(chromium, observed.monitor + "/")
    eventually("it asks for the token", lambda: page.run("document.activeElement.id") == "token", within=5)
    page.run(f"location.href = '{link(observed)}'")
    eventually("it is shown", lambda: page.text("#overview") != [], within=10)
    assert page.run("location.href") == observed.monitor + "/"
    assert page.complaints == []
    page.close()


def test_a_short_token_is_refused(single):
    arguments = ["up", "--data", str(single.folder / "never"), "--operator-token", "short"]
    done = single.touchsync(*arguments, check=False)
    assert done.returncode != 0 and "must be 32 to 4096 visible characters" in done.stderr


def test_a_token_is_kept_from_one_start_to_the_next(beside):
    with beside() as pipeline:
        path = pipeline.data / "operator-token"
        made, mode = path.read_text(), path.stat().st_mode & 0o777
        assert len(made.strip()) == 64 and mode == 0o600
        pipeline.stop()
        pipeline.start()
        assert path.read_text() == made and made.strip() not in pipeline.log()
        assert overview(pipeline, **pipeline.operator).status_code == 200


# How it looks


@pytest.fixture
def robots(observed, room):
    """Eight robots in a room."""
    command = [pipelines.PROGRAMS / "touchsync", "robots", "--url", observed.url, "--room", room, "--count", "8"]
    robots = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield robots
    robots.terminate()
    robots.wait(10)


def test_it_can_be_seen_and_used_in_both_themes_and_sizes(page, room, robots):
    eventually("the room is listed", lambda: room in page.text("#rooms td:first-child"), within=8)
    eventually("previews flow", lambda: page.run("document.querySelectorAll('.dots.moving').length") == 7, within=8)
    # Kept for whoever wants to see them; README.md shows one.
    folder = pipelines.PROGRAMS.parent / "test-pictures"
    for theme in ("light", "dark"):
        page.prefer(theme)
        for width, height in ((390, 844), (1440, 900), (2560, 1440)):
            page.resize(width, height)
            page.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            assert page.faults() == [], (theme, width)
            if width < 2000:
                page.picture(folder / f"monitor-{theme}-{width}.png")


def test_a_chart_is_a_table_by_keyboard(page, ada, room):
    ada.ok("element:create", {"roomId": room, "element": {"type": "note"}})
    button, table = "[data-chart=commitLatency] button", "[data-chart=commitLatency] td"
    page.run(f"document.querySelector({button!r}).focus()")
    page.press("Enter")
    eventually("minutes are listed", lambda: re.fullmatch(r"\d\d:\d\d:\d\d", (page.text(table) or [""])[0]), within=5)
    assert page.faults() == [] and page.text("[data-chart=commitLatency] .legend") == []
    page.press("Enter")
    assert page.text(table) == [] and page.text("[data-chart=commitLatency] .legend") != []


def test_less_motion_is_none(page):
    page.prefer("light", motion="reduce")
    assert page.run("document.getAnimations().length") == 0


def test_instances_and_rooms_open_by_keyboard(observed, page, ada, room):
    ada.ok("element:create", {"roomId": room, "element": {"type": "note"}})
    page.run("document.querySelector('[data-node=committer] .instance').focus()")
    page.press("Enter")
    eventually("the instance is shown", lambda: "ready" in "".join(page.text("#details .facts")), within=5)
    assert page.faults() == []
    page.press("Escape")
    button = f"[data-room={room}]"
    eventually("the room is listed", lambda: page.text(button), within=8)
    page.run(f"document.querySelector({button!r}).focus()")
    page.press("Enter")
    eventually("the room's update is shown", lambda: "element:created" in "".join(page.text("#details-body")), within=5)
    assert "ada" in "".join(page.text("#details-body")) and page.faults() == []
    page.press("Escape")


# The metrics


def test_metrics_are_named_as_prometheus_wants_them(single, two, room, note):
    ada, bob = two
    move = {"roomId": room, "elementId": note["id"]}
    ada.send("element:transforming", {**move, "transform": {"rotation": 5}})
    assert bob.wait("element:transforming")
    ada.ok("element:transform", {**move, "transform": {"rotation": 9}})
    for stage in ("gateway", "coalescer", "committer", "fanout", "monitor"):
        text = single.admin(single.processes(stage)[0], "/metrics").text
        checked = subprocess.run([os.environ["PROMTOOL"], "check", "metrics"], input=text, capture_output=True, text=True)
        assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", ""), stage
        assert len(text) > 1000
