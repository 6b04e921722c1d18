"""Who comes in: addresses, hosts, origins, tokens, and what strangers may cost."""

import base64
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
import ports
from app import Refused
from conftest import SECRET, claims, signed
from page import Page
from pipeline import Pipeline, eventually


@pytest.fixture(scope="module")
def plain(beside):
    """One of each daemon, in open mode, everything at its defaults."""
    with beside() as pipeline:
        yield pipeline


def gateway(*settings, environment=None):
    """Checks a gateway's settings as its start would."""
    peers = ["--coalescers", "c=ipc:///tmp/c", "--committers", "w=ipc:///tmp/w", "--fanouts", "f=ipc:///tmp/f"]
    return subprocess.run(
        [str(pipelines.PROGRAMS / "touchsync-gateway"), *peers, *settings, "--check-config"], capture_output=True,
        text=True, timeout=30, env=environment or {})


# Addresses


@pytest.mark.skipif(not ports.has_ipv6(), reason="this machine has no IPv6")
def test_both_addresses_of_loopback_are_served_alike(beside, apps, room):
    """Programs look for localhost on either."""
    with beside("--max-connections-per-address", 2) as pipeline:
        for host in ("127.0.0.1", "[::1]", "localhost"):
            url = f"http://{host}:{pipeline.port}"
            assert requests.get(url + "/readyz", timeout=5).status_code == 200
            opening = f"{url}/socket.io/?EIO=4&transport=polling"
            assert requests.get(opening, headers={"Origin": url}, timeout=5).status_code == 200
            assert requests.get(opening, headers={"Origin": "http://evil.example"}, timeout=5).status_code == 403
        # More than an address has: loopback is not counted.
        members = [apps(f"http://[::1]:{pipeline.port}", f"ada{index}") for index in range(4)]
        for member in members:
            member.join(room)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a machine without IPv6")
def test_a_machine_without_ipv6_is_served(tmp_path):
    """`up` in a network of its own, of which IPv6 was taken away."""
    script = """
        ip link set lo up; echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6
        exec "$0" "$@"
    """
    pipeline = Pipeline()
    command = [str(pipelines.PROGRAMS / "touchsync"), "up", "--json", "--port", "8080", "--data", str(pipeline.data)]
    process = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", script, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=pipeline.environment, start_new_session=True)
    try:
        assert json.loads(process.stdout.readline())["urls"] == ["http://127.0.0.1:8080"]
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        pipeline.remove()


def test_up_passes_on_who_may_come_in(beside, tmp_path):
    refused = subprocess.run(
        [str(pipelines.PROGRAMS / "touchsync"), "up", "--host", "0.0.0.0", "--data", str(tmp_path)],
        capture_output=True, text=True, timeout=30, env={})
    assert refused.returncode == 78 and "--open" in refused.stderr
    with beside("--host", "0.0.0.0", "--open") as pipeline:
        assert requests.get(pipeline.url + "/readyz", timeout=5).status_code == 200
        assert "everybody who reaches 0.0.0.0" in pipeline.log()
        assert "everybody who reaches this address" in (pipeline.data / "log" / "gateway-1.log").read_text()


def test_the_doctor_says_who_may_come_in(plain, tmp_path):
    def access(*settings, **environment):
        done = plain.touchsync("doctor", "--json", "--data", str(tmp_path), *settings, check=False, environment=environment)
        [finding] = [finding for finding in json.loads(done.stdout)["checks"] if finding["check"] == "access"]
        return finding["grade"]

    assert access() == "ok" and access("--host", "0.0.0.0") == "fail" and access("--host", "0.0.0.0", "--open") == "warn"
    assert access("--host", "0.0.0.0", TOUCHSYNC_JWT_SECRET=SECRET) == "ok"


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


def test_the_page_works_within_its_policy(plain, browser, apps, room):
    page = Page(browser, f"{plain.url}/?room={room}")
    page.wait("it is in the room", "document.getElementById('state').textContent.includes('1 here')")
    assert page.ask("document.getElementById('entry').hidden") is True
    page.press("#dock [data-command=note]")
    page.wait("it shows a note", "document.querySelectorAll('.element').length === 1")
    page.wait("it is stored", "document.getElementById('pending').hidden")
    ada = apps(plain.url, "ada")
    [element] = ada.join(room)["elements"]
    ada.send("element:transforming", {"roomId": room, "elementId": element["id"], "positionX": 77})
    page.wait("it shows the preview", "document.querySelector('.element.moving') !== null")
    assert page.complaints == []
    # What does not stand in the page does not run: the policy is in force.
    page.ask("const smuggled = document.createElement('script'); smuggled.text = 'window.ran = 1';"
             "document.body.append(smuggled)")
    page.wait("the browser refuses it", "window.ran === undefined")
    eventually("it says so", lambda: any("violation" in json.dumps(entry) for entry in page.complaints))


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
    # Kept for this tab, over a reload, which would break off the import of a later script.
    page.wait("the later script is here", "performance.getEntriesByType('resource').some(({name}) => name.includes('soon'))")
    page.open(f"{guarded.url}/?room={room}")
    page.wait("it is in the room again", "document.getElementById('state').textContent.includes('1 here')")
    assert page.complaints == []




def test_strangers_learn_nothing_and_operators_everything(guarded, apps):
    good = guarded.token("ada", ["r"])
    head, claims, mac = good.split(".")
    elsewhere = {**guarded.environment, "TOUCHSYNC_JWT_SECRET": "another secret of thirty-two bytes and more"}
    foreign = guarded.touchsync("token", "--user", "ada", "--room", "r", environment=elsewhere).stdout.strip()
    issuer = guarded.touchsync("token", "--user", "ada", "--room", "r", "--jwt-issuer", "other").stdout.strip()
    name = 'touchsync_gateway_tokens_refused_total{reason="%s"}'

    def counts():
        metrics = guarded.metrics("gateway")
        return [metrics[name % check] for check in ("malformed", "bad_signature", "wrong_issuer", "unsupported_algorithm")]

    before, seen = counts(), []
    none = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0"
    for token in ("a.b.c", foreign, issuer, f"{none}.{claims}."):
        with pytest.raises(Refused) as refused:
            apps(guarded.url, auth={"token": token})
        seen.append(refused.value.data)
        api = requests.get(f"{guarded.url}/api/rooms/r", headers={"Authorization": f"Bearer {token}"}, timeout=10)
        assert api.status_code == 401 and api.json()["error"] == refused.value.data["data"]
    assert all(data == seen[0] for data in seen)
    eventually("each check is counted", lambda: [now - was for now, was in zip(counts(), before)] == [2, 2, 2, 2])
    log = (guarded.data / "log" / "gateway-1.log").read_text()
    assert "token refused" in log and "token.check=" in log
    assert good not in log and foreign not in log and claims not in log


# How long tokens last


def test_a_token_lives_no_longer_than_its_lifetime(beside, apps, room):
    environment = {"TOUCHSYNC_JWT_SECRET": SECRET}
    with beside("--jwt-leeway-ms", 0, "--token-lifetime-s", 3, environment=environment) as pipeline:
        # One from elsewhere that says it lasts for an hour, and when it was issued, or not.
        now = int(time.time())
        for more in ({"iat": now}, {}):
            app = apps(pipeline.url, auth={"token": signed(claims(exp=now + 3600, **more))})
            app.join(room)
            app.wait("auth:error")
            app.wait("disconnect", within=8)
        with pytest.raises(Refused):
            apps(pipeline.url, auth={"token": signed(claims(exp=now + 3600, iat=now))})
        command = ["token", "--user", "ada", "--room", "r", "--token-lifetime-s", "3"]
        done = pipeline.touchsync(*command, "--ttl", "4", check=False)
        assert done.returncode == 78 and "--ttl 4" in done.stderr and "token-lifetime-s" in done.stderr
        apps(pipeline.url, auth={"token": pipeline.touchsync(*command).stdout.strip()})


def parts(token):
    """The claims of a token."""
    body = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))


def test_the_command_makes_tokens_that_can_be_revoked(guarded):
    one, other = parts(guarded.token("ada", ["r"])), parts(guarded.token("ada", ["r"]))
    assert one["jti"] != other["jti"] and len(one["jti"]) == 32 and abs(one["iat"] - time.time()) < 60
    assert parts(guarded.token("ada", ["r"], id="mine"))["jti"] == "mine"


class Files:
    """A pipeline that follows files of keys and revocations."""

    def __init__(self, pipeline, folder):
        self.pipeline = pipeline
        self.keys = folder / "keys.json"
        self.revocations = folder / "revocations.jsonl"

    def metric(self, name):
        return self.pipeline.metrics("gateway")["touchsync_" + name]

    def replace(self, path, text, outcome="changed"):
        """Replaces a file and waits until the gateway has read it."""
        name = f'file_reloads_total{{file="{path.stem}",outcome="{outcome}"}}'
        before = self.metric(name)
        draft = path.with_name("draft")
        draft.write_text(text)
        draft.rename(path)
        eventually(f"{path.name} is {outcome}", lambda: self.metric(name) > before)

    def notes(self, check):
        answer = requests.get(self.pipeline.processes("gateway")[0]["http"] + "/readyz", timeout=5)
        assert answer.status_code == 200, answer.text
        return [note["reason"] for note in answer.json().get("notes", []) if note["check"] == check]


def key_set(**secrets):
    """A JWK set of shared secrets."""
    def encoded(secret):
        return base64.urlsafe_b64encode(secret.encode()).rstrip(b"=").decode()

    return json.dumps({"keys": [{"kty": "oct", "kid": name, "k": encoded(secret)} for name, secret in secrets.items()]})


OLD, NEW = "the old secret of at least thirty-two bytes", "the new secret of at least thirty-two bytes"


@pytest.fixture(scope="module")
def files(beside):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "keys.json").write_text(key_set(old=OLD))
        (folder / "revocations.jsonl").write_text("")
        environment = {"TOUCHSYNC_JWT_SECRET": SECRET}
        with beside("--jwt-keys-file", folder / "keys.json", "--revocations", folder / "revocations.jsonl",
                    "--deadline-ms", 20_000, environment=environment) as pipeline:
            yield Files(pipeline, folder)


def test_keys_are_replaced_while_the_gateway_runs(files, apps, room):
    def enter(key, secret):
        return apps(files.pipeline.url, auth={"token": signed(claims(), {"alg": "HS256", "typ": "JWT", "kid": key},
                                                              secret=secret)})

    old = enter("old", OLD)
    own = apps(files.pipeline.url, auth={"token": files.pipeline.token("ada", [room])})
    files.replace(files.keys, key_set(old=OLD, new=NEW))
    new = enter("new", NEW)
    for app in (old, own, new):
        app.join(room)
    # A file that is wrong is refused with its line; the keys stay.
    files.replace(files.keys, '{"keys":[\n{"kty":"oct","k":"AQAB"}]}', "refused")
    assert "line 2: key 0" in files.notes("keys")[0] and files.metric('file_refused{file="keys"}') == 1
    enter("new", NEW)
    assert old.is_connected
    # A connection ends with the key that admitted it.
    files.replace(files.keys, key_set(new=NEW))
    old.wait("disconnect", within=5)
    assert old.named("auth:error")[-1]["code"] == "forbidden"
    with pytest.raises(Refused):
        enter("old", OLD)
    for app in (own, new):
        assert app.is_connected and app.ok("client:ping", {})
    assert files.notes("keys") == []


def test_keys_are_read_again_on_a_hang_up(files, apps):
    before = files.metric('file_reloads_total{file="keys",outcome="changed"}')
    files.keys.write_text(key_set(new=NEW, other=OLD))
    os.kill(files.pipeline.processes("gateway")[0]["pid"], signal.SIGHUP)
    eventually("the keys are read", lambda: files.metric('file_reloads_total{file="keys",outcome="changed"}') > before)


def test_revocation_ends_live_connections(files, apps, room):
    def enter(user, **more):
        token = files.pipeline.token(user, [room, room + "-frozen"], **more)
        return apps(files.pipeline.url, auth={"token": token}), token

    ada, stolen = enter("ada", id="stolen")
    same, _ = enter("ada", id="mine")
    bob, _ = enter("bob")
    for app in (ada, same, bob):
        app.join(room)
    files.replace(files.revocations, '{"jti":"stolen","reason":"a lost phone"}\n')
    ada.wait("disconnect", within=5)
    assert ada.named("auth:error")[-1] == {"code": "forbidden", "message": "The token is not valid."}
    with pytest.raises(Refused) as refused:
        apps(files.pipeline.url, auth={"token": stolen})
    assert refused.value.data["data"]["message"] == "The token is not valid."
    headers = {"Authorization": f"Bearer {stolen}"}
    assert requests.get(f"{files.pipeline.url}/api/rooms/{room}", headers=headers, timeout=10).status_code == 401
    assert same.is_connected and bob.is_connected
    # All of a user's tokens up to a time; those that are issued later are good.
    files.replace(files.revocations, json.dumps([{"jti": "stolen"}, {"sub": "ada", "before": int(time.time()) + 1}]))
    same.wait("disconnect", within=5)
    assert bob.ok("client:ping", {})
    time.sleep(1.1)
    again, _ = enter("ada")
    again.join(room)
    # A file that is wrong is refused with its line; the list stays.
    files.replace(files.revocations, '{"jti":"stolen"}\n{"jit":"x"}\n', "refused")
    assert "line 2: an entry is" in files.notes("revocations")[0]
    with pytest.raises(Refused):
        apps(files.pipeline.url, auth={"token": stolen})


@pytest.mark.parametrize("file, text, reason", [
    ("--jwt-keys-file", '{"keys":[\n{"kty":"oct","k":"AQAB"}]}', "line 2: key 0"),
    ("--revocations", '{"jti":"a"}\n{', "line 2: is no valid JSON"),
])
def test_a_gateway_does_not_start_with_a_wrong_file(tmp_path, file, text, reason):
    path = tmp_path / "file"
    path.write_text(text)
    done = gateway(file, str(path), environment={"TOUCHSYNC_JWT_SECRET": SECRET})
    assert done.returncode == 78 and reason in done.stderr
    assert gateway(file, str(tmp_path / "missing"), environment={"TOUCHSYNC_JWT_SECRET": SECRET}).returncode == 78


