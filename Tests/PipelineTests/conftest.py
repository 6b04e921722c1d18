"""Pipelines and apps for the tests."""

import base64
import hashlib
import hmac
import itertools
import json
import re
import time

import pytest

import clients
import pipeline as pipelines
from app import App
from canvas import Canvas
from clients.chromium import Browser
from clients.firefox import Firefox
from raw import Raw

SECRET = "a secret of at least thirty-two bytes, for tests"


def signed(claims, header=None, secret=SECRET):
    """A token as any identity provider would make one."""

    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")

    body = part(header or {"alg": "HS256", "typ": "JWT"}) + b"." + part(claims)
    mac = hmac.new(secret.encode(), body, hashlib.sha256).digest()
    return (body + b"." + base64.urlsafe_b64encode(mac).rstrip(b"=")).decode()


def claims(**changes):
    """Good claims, with changes; None takes a claim away."""
    good = {"sub": "eve", "rooms": {"*": "commit"}, "exp": int(time.time()) + 600, "iss": "touchsync", "aud": "touchsync"}
    return {key: value for key, value in {**good, **changes}.items() if value is not None}


@pytest.fixture(scope="session", autouse=True)
def programs():
    """The folder of the built programs."""
    if not (pipelines.PROGRAMS / "touchsync").exists():
        pytest.exit("set TOUCHSYNC_PROGRAMS to the folder of the built programs, or use run.sh", returncode=64)
    return pipelines.PROGRAMS


@pytest.fixture(scope="session", autouse=True)
def places():
    """Ends what JavaScript ran in."""
    yield
    clients.close_places()


@pytest.fixture(scope="session")
def single():
    """One of each daemon, in open mode, for pages of every origin, everything else at its defaults. Tests share it, each
    in rooms of its own."""
    with pipelines.running("--origins", "*") as pipeline:
        yield pipeline


@pytest.fixture(scope="session")
def beside(single):
    """Runs further pipelines, each on a database of its own in the single pipeline's server: to make and start a server
    takes longer than all else. Tests that end the server, or look at how it is started, have their own."""
    names = (f"beside_{number}" for number in itertools.count(1))

    def run(*settings, **more):
        database = single.own_database(next(names))
        return pipelines.running("--database-url", database, *settings, **more)

    return run


@pytest.fixture(scope="module")
def guarded(beside):
    """One of each daemon, in token mode."""
    environment = {"TOUCHSYNC_JWT_SECRET": SECRET}
    with beside("--jwt-leeway-ms", 1000, environment=environment) as pipeline:
        yield pipeline


@pytest.fixture(scope="module")
def double(beside):
    """Two of each daemon, with limits that let a test make load."""
    with beside(
        "--commits-per-second", 100000, "--commit-burst", 100000,
        gateways=2, coalescers=2, committers=2, fanouts=2,
    ) as pipeline:
        settle(pipeline)
        yield pipeline


def settle(pipeline):
    """Waits until all gateways send each room to the same daemons: ready is a daemon with one neighbour of each kind."""
    people = [App(url, f"scout-{index}").connect() for index, url in enumerate(pipeline.urls)]
    everybody = {app.user for app in people}
    for room in (f"scouting-{index}" for index in range(12)):

        def see_each_other():
            members = [app.join(room)["members"] for app in people]
            return all({member["userId"] for member in seen} == everybody for seen in members[-1:])

        pipelines.eventually("everybody sees everybody", see_each_other, within=8, every=0.1)
    for app in people:
        app.close()


@pytest.fixture
def apps():
    """Makes connected apps and closes them afterwards."""
    made = []

    def make(url, user=None, **more):
        app = App(url, user, **more)
        made.append(app)
        return app.connect()

    yield make
    for app in made:
        app.close()


ROOMS = itertools.count(1)


@pytest.fixture
def room(request):
    """A room that no other test uses."""
    name = re.sub(r"[^A-Za-z0-9_.:-]", "-", request.node.name)[:40]
    return f"{name}-{next(ROOMS)}"


@pytest.fixture
def raw(single, room):
    """A raw connection to the single pipeline, in a room."""
    made = Raw(single.url)
    made.ask(json.dumps(["room:join", {"roomId": room}]))
    yield made
    made.socket.close()


@pytest.fixture
def two(single, apps, room):
    """Two apps of two users in a room of the single pipeline: (ada, bob)."""
    ada = apps(single.url, "ada", name="Ada")
    bob = apps(single.url, "bob", name="Bob")
    ada.join(room)
    bob.join(room)
    return ada, bob


@pytest.fixture
def note(two, room):
    """A note in the room of `two`."""
    ada, bob = two
    answer = ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "note-1"}})
    bob.wait_seq(answer["seq"])
    return answer["element"]


@pytest.fixture(scope="session")
def browsers():
    """Starts each browser when it is first asked for."""
    makers, started = {"chromium": Browser, "firefox": Firefox}, {}

    def start(name):
        if name not in started:
            started[name] = makers[name]()
        return started[name]

    yield start
    for browser in started.values():
        browser.close()


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def browser(browsers, request):
    """Each browser. What one cannot do is not for it: `pytest.mark.parametrize("browser", ["chromium"], indirect=True)`."""
    return browsers(request.param)


@pytest.fixture(scope="module")
def chromium(browsers):
    return browsers("chromium")


@pytest.fixture
def windows(single, browser, room):
    """Opens windows in the test's room, which end without a complaint of the browser."""
    opened = []

    def make(**more):
        opened.append(Canvas(browser, single, room, **more))
        return opened[-1]

    yield make
    complaints = [complaint for window in opened for complaint in window.complaints]
    for window in opened:
        # What a test has set is not for the next one.
        window.ask("localStorage.removeItem('touchsync quality')")
        window.close()
    assert complaints == []
