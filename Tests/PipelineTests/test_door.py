"""Who comes in: addresses, hosts, origins, tokens, and what strangers may cost."""

import json
import subprocess
import threading

import pytest
import requests

import pipeline as pipelines
from app import POLLING, WEBSOCKET, App, Refused
from clients.chromium import Browser
from conftest import SECRET
from pipeline import eventually, running


@pytest.fixture(scope="module")
def plain():
    """One of each daemon, in open mode, everything at its defaults."""
    with running() as pipeline:
        yield pipeline


def gateway(*settings, environment=None):
    """Checks a gateway's settings as its start would."""
    peers = ["--coalescers", "c=ipc:///tmp/c", "--committers", "w=ipc:///tmp/w", "--fanouts", "f=ipc:///tmp/f"]
    return subprocess.run(
        [str(pipelines.PROGRAMS / "touchsync-gateway"), *peers, *settings, "--check-config"], capture_output=True,
        text=True, timeout=30, env=environment or {})


# Addresses


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "gateway.example.com"])
def test_without_keys_only_loopback_is_served(host):
    done = gateway("--host", host)
    assert done.returncode == 78 and "--host" in done.stderr and "--open" in done.stderr
    assert gateway("--host", host, "--open").returncode == 0
    assert gateway("--host", host, environment={"TOUCHSYNC_JWT_SECRET": SECRET}).returncode == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_loopback_needs_no_keys(host):
    assert gateway("--host", host).returncode == 0


def test_up_passes_on_who_may_come_in(tmp_path):
    refused = subprocess.run(
        [str(pipelines.PROGRAMS / "touchsync"), "up", "--host", "0.0.0.0", "--data", str(tmp_path)],
        capture_output=True, text=True, timeout=30, env={})
    assert refused.returncode == 78 and "--open" in refused.stderr
    with running("--host", "0.0.0.0", "--open") as pipeline:
        assert requests.get(pipeline.url + "/readyz", timeout=5).status_code == 200
        assert "everybody who reaches 0.0.0.0" in pipeline.log()
        assert "everybody who reaches this address" in (pipeline.data / "log" / "gateway-1.log").read_text()


# Origins and hosts


@pytest.mark.parametrize("transport", ["polling", "websocket"])
def test_by_default_pages_of_the_gateway_alone_are_served(plain, transport):
    def status(headers):
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                   "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="} if transport == "websocket" else {}
        url = f"{plain.url}/socket.io/?EIO=4&transport={transport}"
        with requests.get(url, headers={**headers, **upgrade}, timeout=10, stream=True) as answer:
            return answer.status_code

    fine = 101 if transport == "websocket" else 200
    own = plain.url.removeprefix("http://")
    for origin in (None, f"http://{own}", f"https://{own}", f"ws://{own}"):
        assert status({"Origin": origin} if origin else {}) == fine, origin
    for origin in ("https://evil.example", "null", "http://127.0.0.1", f"http://{own}.evil.example", "file://"):
        assert status({"Origin": origin}) == 403, origin


def test_the_api_has_the_same_origins(plain, room):
    url = f"{plain.url}/api/rooms/{room}/elements"
    for origin, expected in ((None, 201), (plain.url, 201), ("https://evil.example", 403), ("null", 403)):
        answer = requests.post(url, json={"type": "note"}, headers={"Origin": origin} if origin else {}, timeout=10)
        assert answer.status_code == expected, (origin, answer.text)
        assert "Access-Control-Allow-Origin" not in answer.headers


def test_a_name_that_somebody_points_at_this_machine_is_refused(plain):
    """DNS rebinding: the page and the gateway are of one origin to the browser."""
    port = plain.port
    before = plain.metrics("gateway")["touchsync_gateway_hosts_refused_total"]
    for host in (f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", "localhost.evil.example", "127.0.0.1x"):
        headers = {"Host": host, "Origin": f"http://{host}"}
        answer = requests.get(plain.url + "/api/openapi.json", headers=headers, timeout=10)
        assert answer.status_code == 421 and answer.json()["error"]["field"] == "Host", host
        assert requests.get(plain.url + "/", headers=headers, timeout=10).status_code == 421
        opening = f"{plain.url}/socket.io/?EIO=4&transport=polling"
        assert requests.get(opening, headers=headers, timeout=10).status_code == 403
        # Proxies that check health name any host.
        assert requests.get(plain.url + "/readyz", headers=headers, timeout=10).status_code == 200
    for host in ("localhost", f"localhost:{port}", f"[::1]:{port}", "127.0.0.1:1", "LOCALHOST"):
        answer = requests.get(plain.url + "/api/openapi.json", headers={"Host": host}, timeout=10)
        assert answer.status_code == 200, host
    eventually("they are counted", lambda: plain.metrics("gateway")["touchsync_gateway_hosts_refused_total"] == before + 12)


# What browsers are told


def test_answers_confine_what_browsers_do_with_them(plain, room):
    for path in ("/", "/healthz", "/readyz", "/nothing", "/api/openapi.json", f"/api/rooms/{room}"):
        headers = requests.get(plain.url + path, timeout=10).headers
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
        assert headers["X-Frame-Options"] == "DENY"
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy


def test_readiness_is_yes_or_no_to_strangers(plain):
    assert requests.get(plain.url + "/readyz", timeout=10).json() == {"ready": True}
    admin = plain.processes("gateway")[0]["http"]
    assert "reasons" in requests.get(admin + "/readyz", timeout=10).json()


class Page:
    """The gateway's page in a browser, with everything that the browser complains of."""

    def __init__(self, browser, address):
        self.browser = browser
        self.complaints = []
        self.changed = threading.Condition()
        browser.on_event = self.happened
        target = browser.run("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.run("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            browser.run(f"{domain}.enable", self.session)
        # Violations are events of the document, too.
        violation = "addEventListener('securitypolicyviolation', e => console.error('violation ' + e.violatedDirective))"
        browser.run("Page.addScriptToEvaluateOnNewDocument", self.session, source=violation)
        browser.run("Page.navigate", self.session, url=address)

    def happened(self, session, method, parameters):
        if session != self.session:
            return
        if method == "Log.entryAdded":
            self.complaints.append(parameters["entry"])
        elif method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            self.complaints.append(parameters)

    session = None

    def ask(self, expression):
        result = self.browser.run("Runtime.evaluate", self.session, expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, what, expression):
        return eventually(f"{what}; the page complains of {self.complaints}", lambda: self.ask(expression), within=20)


@pytest.fixture(scope="module")
def browser():
    browser = Browser()
    yield browser
    browser.close()


def test_the_page_works_within_its_policy(plain, browser, apps, room):
    page = Page(browser, f"{plain.url}/?room={room}")
    page.wait("it is in the room", "document.getElementById('state').textContent.includes('1 here')")
    assert page.ask("document.getElementById('entry').hidden") is True
    page.ask("document.getElementById('add').click()")
    page.wait("it shows a note", "document.querySelectorAll('.element').length === 1")
    ada = apps(plain.url, "ada")
    [element] = ada.join(room)["elements"]
    ada.send("element:transforming", {"roomId": room, "elementId": element["id"], "positionX": 77})
    page.wait("it shows the preview", "document.querySelector('.element.preview') !== null")
    assert page.complaints == []
    # What does not stand in the page does not run: the policy is in force.
    page.ask("const smuggled = document.createElement('script'); smuggled.text = 'window.ran = 1';"
             "document.body.append(smuggled)")
    page.wait("the browser refuses it", "window.ran === undefined")
    eventually("it says so", lambda: any("violation" in json.dumps(entry) for entry in page.complaints))


@pytest.fixture(scope="module")
def guarded():
    """One of each daemon, in token mode."""
    environment = {"TOUCHSYNC_JWT_SECRET": SECRET}
    with running("--jwt-leeway-ms", 1000, environment=environment) as pipeline:
        yield pipeline


def test_the_page_asks_for_a_token_and_keeps_it_out_of_its_address(guarded, browser, room):
    token = guarded.token("ada", [room])
    page = Page(browser, f"{guarded.url}/?room={room}&token={token}")
    # The one in the address is ignored.
    page.wait("it asks", "document.getElementById('entry').hidden === false")
    assert "here" not in page.ask("document.getElementById('state').textContent")
    page.ask(f"document.getElementById('token').value = {json.dumps(token)};"
             "document.querySelector('#entry button').click()")
    page.wait("it is in the room", "document.getElementById('state').textContent.includes('1 here')")
    assert page.ask("document.getElementById('token').value") == ""
    assert page.ask("document.getElementById('entry').hidden") is True
    # Kept for this tab, over a reload.
    page.browser.run("Page.navigate", page.session, url=f"{guarded.url}/?room={room}")
    page.wait("it is in the room again", "document.getElementById('state').textContent.includes('1 here')")
    assert page.complaints == []
