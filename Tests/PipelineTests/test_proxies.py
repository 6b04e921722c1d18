"""The configurations of deploy/ for haproxy and nginx, run by these proxies in front of three gateways."""

import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest
import requests

import ports
from app import POLLING, UPGRADE, WEBSOCKET
from certificates import Certificate
from clients.steps import on_the_loop
from clients.wire import Failed, Wire
from pipeline import eventually
from survival import Crowd

DEPLOY = pathlib.Path(__file__).parents[2] / "deploy"
# The proxy's address as the gateways see it.
PROXY = "127.0.0.2"
# Where a client comes from.
CLIENT = "127.0.0.3"
OPENING = "/socket.io/?EIO=4&transport=polling"


class Front:
    """A pipeline behind a proxy."""

    def __init__(self, pipeline, name):
        self.pipeline = pipeline
        self.name = name
        self.plain, self.port = ports.free(), ports.free()
        self.url = f"https://127.0.0.1:{self.port}"

    def configuration(self, folder):
        """The example, for these addresses and files, with a third gateway wherever it has the second."""
        first, second, third = (url.removeprefix("http://") for url in self.pipeline.urls)
        made = {"haproxy": "haproxy.cfg", "nginx": "nginx.conf"}[self.name]
        text = ""
        for line in (DEPLOY / made).read_text().splitlines(keepends=True):
            text += line
            if "10.0.0.4:8080" in line or "~^gateway-2" in line:
                text += line.replace("10.0.0.4:8080", third).replace("gateway-2", "gateway-3")
        for example, present in {
            "10.0.0.1:8080": first, "10.0.0.4:8080": second, "10.0.0.9": PROXY,
            "bind :80": f"bind 127.0.0.1:{self.plain}", "bind :443": f"bind 127.0.0.1:{self.port}",
            "listen 80;": f"listen 127.0.0.1:{self.plain};", "listen 443 ssl;": f"listen 127.0.0.1:{self.port} ssl;",
            "/etc/touchsync/tls/": f"{folder}/", "/run/nginx.pid": f"{folder}/pid", "/var/log/nginx/": f"{folder}/",
        }.items():
            text = text.replace(example, present)
        if self.name == "nginx":
            # Where a user other than root may write, too.
            places = "".join(
                f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
            text = text.replace("http {", "http { " + places, 1)
        elif os.geteuid():
            text = text.replace("    user haproxy\n    group haproxy\n", "")
        path = folder / made
        path.write_text(text)
        return path

    @contextlib.contextmanager
    def running(self):
        program = shutil.which(self.name, path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
        assert program, f"{self.name} is missing; deploy/install.sh {self.name} installs it"
        with tempfile.TemporaryDirectory(prefix="touchsync-proxy-") as folder:
            folder = pathlib.Path(folder)
            folder.chmod(0o755)
            self.certificate = Certificate.make(folder)
            chain, key = (path.read_text() for path in (self.certificate.certificate, self.certificate.key))
            for name, text in (("haproxy.pem", chain + key), ("fullchain.pem", chain), ("privkey.pem", key)):
                (folder / name).write_text(text)
            path = str(self.configuration(folder))
            command = {"haproxy": ["-db", "-f", path], "nginx": ["-e", f"{folder}/error.log", "-g", "daemon off;", "-c", path]}
            with open(folder / "log", "wb") as log:
                process = subprocess.Popen(
                    [program, *command[self.name]], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
            try:
                eventually("the proxy serves", lambda: self.serves(process, folder))
                yield self
            finally:
                process.terminate()
                process.wait(10)

    def serves(self, process, folder):
        assert process.poll() is None, (folder / "log").read_text()
        with contextlib.suppress(requests.RequestException):
            return self.get("/readyz").status_code == 200

    def get(self, path, by=requests, **more):
        return by.get(self.url + path, verify=str(self.certificate.certificate), timeout=5, **more)


@pytest.fixture(scope="module", params=["haproxy", "nginx"])
def front(request, beside):
    with beside("--trusted-proxies", PROXY, gateways=3) as pipeline:
        with Front(pipeline, request.param).running() as front:
            yield front


@pytest.mark.parametrize("transports", [WEBSOCKET, POLLING, UPGRADE], ids=["websocket", "polling", "upgrade"])
def test_apps_work_through_the_proxy(front, apps, room, transports):
    context = front.certificate.context()
    people = [apps(front.url, name, transports=transports, tls=context) for name in ("ada", "bob", "eve")]
    for app in people:
        app.join(room)
    ada, bob, _ = people
    done = ada.ok("element:create", {"roomId": room, "element": {"id": "note-1", "type": "note"}})
    for app in people:
        app.wait_seq(done["seq"])
    bob.send("element:transforming", {"roomId": room, "elementId": "note-1", "transform": {"rotation": 30}})
    ada.wait("element:transforming", lambda data: data["transform"] == {"rotation": 30})


def test_the_gateway_learns_the_clients_address(front):
    """It logs who addressed it by a name that it does not have."""
    connection = http.client.HTTPSConnection(
        "127.0.0.1", front.port, timeout=5, source_address=(CLIENT, 0), context=front.certificate.context())
    connection.request("GET", "/", headers={"Host": "elsewhere.example.com", "X-Forwarded-For": "203.0.113.1"})
    assert connection.getresponse().status == 421
    connection.close()

    def lines():
        logs = (front.pipeline.data / "log").glob("gateway-*.log")
        return [line for log in logs for line in log.read_text().splitlines() if "elsewhere.example.com" in line]

    line = eventually("it is logged", lines)[0]
    assert CLIENT in line and "203.0.113.1" not in line and PROXY not in line


def test_pages_are_the_gateways_own_and_encrypted(front):
    redirected = requests.get(f"http://127.0.0.1:{front.plain}/", allow_redirects=False, timeout=5)
    assert redirected.status_code == 301 and redirected.headers["Location"].startswith("https://127.0.0.1")
    assert front.get(OPENING, headers={"Origin": front.url}).status_code == 200
    assert front.get(OPENING, headers={"Origin": "https://evil.example"}).status_code == 403


def test_one_connection_carries_requests_of_all_sessions(front):
    """Each request gets to the gateway of its session, whatever the one before it on the connection was for."""
    trusted = {"verify": str(front.certificate.certificate), "timeout": 5}
    with requests.Session() as kept:
        sids = [json.loads(front.get(OPENING, by=kept).text[1:])["sid"] for _ in range(9)]
        assert {gateway(sid) for sid in sids} == {"gateway-1", "gateway-2", "gateway-3"}
        for turn in range(3):
            for index, sid in enumerate(sids):
                url = f"{front.url}{OPENING}&sid={sid}"
                if turn == 0:
                    assert kept.post(url, f'40{{"userId":"u{index}"}}', **trusted).text == "ok"
                    assert kept.get(url, **trusted).text.startswith('40{"sid":')
                assert kept.post(url, '420["nonsense",{}]', **trusted).text == "ok"
                assert "unknown_event" in kept.get(url, **trusted).text
        for sid in sids:
            url = f"{front.url}{OPENING}&sid={sid}"
            assert kept.post(url, "1", **trusted).text == "ok"
            gone = kept.get(url, **trusted)
            assert gone.status_code == 400 and gone.json() == {"code": 1, "message": "Session ID unknown"}


@on_the_loop
async def test_everything_that_waits_comes_in_one_post(front, room):
    """socket.io-client-swift ignores `maxPayload`: a POST may have more, but none of its packets."""
    async with Wire(front.url, tls=front.certificate.context()) as wire:
        most = (await wire.open())["maxPayload"]
        await wire.enter(json.dumps({"userId": "ada"}))

        def edit(n, size=7000):
            elements = [{"type": "note", "content": {"text": "x" * size}} for _ in range(3)]
            return f"42{n}" + json.dumps(["elements:create", {"roomId": room, "n": n, "elements": elements}])

        await wire.post("420" + json.dumps(["room:join", {"roomId": room}]))
        answers = {}
        for first in (1, 21):
            edits = [edit(n) for n in range(first, first + 20)]
            assert most < sum(map(len, edits)) < 2 * most
            await wire.post(*edits)
            while len(answers) < first + 20:
                packet = await wire.next()
                if packet.startswith("43"):
                    number, _, answer = packet[2:].partition("[")
                    answers[int(number)] = json.loads("[" + answer)[0]
        assert all(answer["ok"] for answer in answers.values()), answers
        assert [answers[n]["seq"] for n in range(1, 41)] == list(range(1, 41))
        with pytest.raises(Failed) as refused:
            await wire.post("3", edit(41, most))
        assert refused.value.status == 413


# A worker whose gateway is gone waits for its answer, then for its old session to close, then for a new one: 6, 10 and 12 s
# at most.
PATIENCE = 60


def test_polling_apps_lose_no_edit_with_their_gateway(front, room):
    """One gateway drains, another is killed: their apps begin new sessions elsewhere, and go on with all that they had."""
    how = {"transports": POLLING, "tls": front.certificate.context()}
    with Crowd(front.pipeline, room, rooms=3, each=3, pause=0.05, urls=[front.url], **how) as crowd:

        def goes_on():
            target = crowd.count + 60
            eventually("commits are acknowledged", lambda: crowd.count >= target, within=PATIENCE)

        def recoveries():
            return [worker.recoveries for worker in crowd.workers]

        def crowded():
            for worker in crowd.workers:
                if worker.fault:
                    raise worker.fault
            sids = [worker.app and worker.app.is_connected and worker.app.client.eio.sid for worker in crowd.workers]
            return all(sids) and [gateway(sid) for sid in sids]

        goes_on()
        for index, ending in enumerate([signal.SIGTERM, signal.SIGKILL]):
            homes = eventually("all are connected", crowded, within=PATIENCE)
            theirs = [number for number, home in enumerate(homes) if home == f"gateway-{index + 1}"]
            assert theirs, homes
            before = recoveries()
            ended = front.pipeline.kill("gateway", index, ending)
            eventually(
                "its apps are back", lambda: all(recoveries()[number] > before[number] for number in theirs), within=PATIENCE)
            goes_on()
            front.pipeline.wait_restarted(ended, within=PATIENCE)
        crowd.check()
    assert [foreign(front.pipeline, index) for index in range(3)] == [0, 0, 0]


def test_a_draining_gateway_gets_no_new_apps(front, apps, room):
    """Those who are there stay for what they are owed; whoever comes meanwhile meets the other gateway."""
    context = front.certificate.context()
    early = [apps(front.url, f"early-{number}", tls=context) for number in range(6)]
    for app in early:
        app.join(room)
    # A browser's connection, which the proxy keeps, perhaps with one of its own to a gateway.
    kept = requests.Session()
    assert [front.get(OPENING, by=kept).status_code for _ in range(4)] == [200] * 4
    name = gateway(early[0].client.eio.sid)
    drained = next(process for process in front.pipeline.processes("gateway") if process["name"] == name)
    committers = [process["pid"] for process in front.pipeline.processes("committer")]
    for pid in committers:
        os.kill(pid, signal.SIGSTOP)
    try:
        for app in early:
            app.send("element:create", {"roomId": room, "element": {"type": "note"}})
        eventually("all are owed a result", lambda: in_flight(front.pipeline) == len(early))
        os.kill(drained["pid"], signal.SIGTERM)
        leaving = eventually("somebody has to leave", lambda: [app for app in early if is_told_to_leave(app)])
        late = []
        for number in range(8):
            late.append(apps(front.url, f"late-{number}", transports=[WEBSOCKET, POLLING][number % 2], tls=context))
            late[-1].join(room)
            assert front.get(OPENING, by=kept).status_code == 200
        assert all(app.is_connected for app in leaving), "it did not drain meanwhile"
    finally:
        for pid in committers:
            os.kill(pid, signal.SIGCONT)
    # The proxy had spread them over both.
    assert 0 < len(leaving) < len(early)
    for app in late:
        app.wait_seq(len(early))
    assert not any(is_told_to_leave(app) for app in late)
    front.pipeline.wait_restarted(drained)


def gateway(sid):
    """The gateway of a session."""
    return sid.rsplit(".", 1)[0]


def foreign(pipeline, index):
    """Requests that reached another gateway than that of their session."""
    return pipeline.metrics("gateway", index)["touchsync_gateway_foreign_sessions_total"]


def in_flight(pipeline):
    name = "touchsync_gateway_commits_in_flight"
    return sum(pipeline.metrics("gateway", index)[name] for index in range(len(pipeline.processes("gateway"))))


def is_told_to_leave(app):
    return any(event.name == "server:draining" for event in app.events)


def test_gateways_that_end_cost_no_request(front, apps, room):
    """One after the other ends, and the first to reach each again is a WebSocket, which stays."""
    for index in range(3):
        ended = front.pipeline.kill("gateway", index)
        for number in range(12):
            assert front.get("/api/openapi.json").status_code == 200
            if number % 3 == 0:
                apps(front.url, f"app-{index}-{number}", transports=WEBSOCKET, tls=front.certificate.context()).join(room)
        front.pipeline.wait_restarted(ended)


def test_events_of_a_stream_come_through_the_proxy_at_once(front, apps, room):
    """Each one within the time in which something must come, although more would fit into the proxy's buffers. The last test
    here: haproxy notices that a reader has gone at the next comment, and prefers other gateways until then."""
    with front.get(f"/api/rooms/{room}/events", stream=True) as answer:
        lines = answer.iter_lines(chunk_size=1)
        assert any(line == b"event: room:reset" for line in lines)
        ada = apps(front.url, "ada", tls=front.certificate.context())
        ada.join(room)
        ada.ok("element:create", {"roomId": room, "element": {"id": "note-1", "type": "note"}})
        assert any(line == b"event: element:created" for line in lines)
