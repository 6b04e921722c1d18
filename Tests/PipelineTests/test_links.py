"""Links over TCP: with their keys daemons work as ever, and whoever has none, or another's, achieves nothing."""

import json
import os
import struct
import subprocess

import pytest
import zmq

from linked import Keys, linked
from pipeline import PROGRAMS, eventually

# Kinds of frames between two daemons, and of records in an envelope.
HELLO, GOODBYE, DATA = b"\x00", b"\x03", b"\x04"
COMMIT, UPDATE = 2, 4


@pytest.fixture(scope="module")
def links(single):
    """Four daemons and a second gateway, linked by TCP."""
    with linked(single.report["database"].replace("/touchsync?", "/links?"), gateways=2) as pipeline:
        yield pipeline


class Forger:
    """A peer of a program of its own, with any keys, that speaks the links' protocol."""

    def __init__(self, pipeline, server, keys=None, name="gateway-1"):
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.linger = 0
        if keys:
            public, secret = Keys.read(keys)
            self.socket.curve_publickey, self.socket.curve_secretkey = public.encode(), secret.encode()
            stage = server.rsplit("-", 1)[0]
            known, _ = Keys.read(pipeline.keys.folder / f"{stage}-{server}.key")
            self.socket.curve_serverkey = known.encode()
        self.socket.connect(f"tcp://{pipeline.address(server)}")
        hello = struct.pack(">HHQIB", 1, 3, int.from_bytes(os.urandom(8), "big"), 0, len(name)) + name.encode()
        self.socket.send_multipart([HELLO, hello])

    def answer(self, within=3.0):
        """The kind of the next message; None if there is none."""
        return self.socket.recv_multipart()[0] if self.socket.poll(within * 1000) else None

    def close(self):
        self.socket.close()


@pytest.fixture
def forge(links):
    made = []

    def make(*arguments, **more):
        made.append(Forger(links, *arguments, **more))
        return made[-1]

    yield make
    for forger in made:
        forger.close()


def test_apps_work_over_guarded_links(links, apps, room):
    ada, bob = apps(links.urls[0], "ada"), apps(links.urls[1], "bob")
    ada.join(room)
    bob.join(room)
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "e"}})
    assert bob.wait("element:created")["seq"] == 1
    ada.send("element:transforming", {"roomId": room, "elementId": "e", "positionX": 5})
    assert bob.wait("element:transforming")["positionX"] == 5
    ada.ok("element:transform", {"roomId": room, "elementId": "e", "positionX": 9})
    assert bob.wait("element:transformed")["element"]["positionX"] == 9
    for name in links.daemons:
        assert links.metric(name, "records_refused_total") == 0


def test_peers_without_a_listed_key_are_not_heard(links, forge):
    stranger = links.keys.make("gateway", "stranger", listed=False)
    for server in ["fanout-1", "committer-1", "coalescer-1"]:
        assert forge(server).answer(0.5) is None
        assert forge(server, stranger).answer(0.5) is None
        # Who notices first that the other speaks no CURVE closes the connection.
        reasons = [f'link_refusals_total{{reason="{reason}"}}' for reason in ("mechanism", "unfinished")]
        eventually("counted", lambda: sum(links.metric(server, reason) for reason in reasons) > 0, within=15)
        links.counts(server, 'link_refusals_total{reason="unknown_key"}')


def test_a_peer_that_is_removed_is_heard_no_more(links, apps, room):
    ada = apps(links.urls[0], "ada")
    ada.join(room)
    links.keys.write(without=[("gateway", "gateway-2")])
    links.counts("committer-1", 'link_refusals_total{reason="removed"}')
    eventually("gateway-2 is alone", lambda: not links.is_ready("gateway-2"), within=15)
    note = "does not list this daemon: gateway gateway-2"
    eventually("it says why", lambda: note in links.notes("gateway-2"))
    ada.ok("element:create", {"roomId": room, "element": {"type": "note"}})
    links.keys.write()
    eventually("gateway-2 is back", lambda: links.is_ready("gateway-2"), within=15)


def test_a_wrong_peers_file_is_not_accepted(links):
    good = links.keys.peers.read_text()
    links.keys.peers.write_text(good + "gateway gateway-3 no-key\n")
    for name in links.daemons:
        links.counts(name, 'file_refused{file="peers"}')
        line = len(good.splitlines()) + 1
        assert f"line {line}: the key is not 40 characters of Z85" in links.notes(name)
        eventually("ready all the same", lambda name=name: links.is_ready(name))
    links.keys.write()
    for name in links.daemons:
        eventually("accepted", lambda name=name: links.metric(name, 'file_refused{file="peers"}') == 0)


def test_a_peers_file_that_others_may_write_is_not_accepted(links):
    links.keys.peers.chmod(0o666)
    for name in links.daemons:
        links.counts(name, 'file_refused{file="peers"}')
        links.counts(name, 'file_reloads_total{file="peers",outcome="refused"}')
        assert "may be written by others than its owner: chmod go-w" in links.notes(name)
        assert links.is_ready(name)
    links.keys.peers.chmod(0o644)
    for name in links.daemons:
        eventually("accepted", lambda name=name: links.metric(name, 'file_refused{file="peers"}') == 0)


def test_a_key_is_replaced_without_losing_anybody(links, apps, room):
    """The next key is listed beside the present one, then the daemon is restarted with it, then the old one goes."""
    ada = apps(links.urls[0], "ada")
    ada.join(room)
    former = links.keys.lines["committer", "committer-1"]
    (links.keys.folder / "committer-committer-1.key").rename(links.keys.folder / "former.key")
    links.keys.make("committer", "committer-1")
    links.keys.lines["committer", "former"] = former
    links.keys.write()
    changed = 'file_reloads_total{file="peers",outcome="changed"}'
    before = {name: links.metric(name, changed) for name in ["gateway-1", "coalescer-1"]}
    due = "has another key, which the daemon uses after a restart"
    eventually("it says that a restart is due", lambda: due in links.notes("committer-1"))
    links.stop_one("committer-1")
    links.launch("committer", "committer-1")
    for name, count in before.items():
        eventually("the file was read", lambda name=name: links.metric(name, 'file_refused{file="peers"}') == 0)
    eventually("all are ready", lambda: all(links.is_ready(name) for name in links.daemons), within=20)
    ada.ok("element:create", {"roomId": room, "element": {"type": "note"}})
    assert due not in links.notes("committer-1")
    del links.keys.lines["committer", "former"]
    links.keys.write()
    ada.ok("element:create", {"roomId": room, "element": {"type": "note"}})


def test_plain_links_stay_on_this_machine(links):
    def check(*flags):
        done = subprocess.run(
            [PROGRAMS / "touchsync-fanout", "--check-config", *flags], capture_output=True, text=True, timeout=10,
            env={**os.environ, "DATABASE_URL": "postgresql://localhost/x"},
        )
        return done.returncode, done.stderr

    code, text = check("--bind", "tcp://192.0.2.1:7300")
    assert code == 78 and "--bind" in text and "link-key-file" in text
    assert check("--bind", "tcp://127.0.0.1:7300")[0] == 0
    key = links.keys.make("fanout", "fanout-9", listed=False)
    keys = ["--bind", "tcp://192.0.2.1:7300", "--peers-file", str(links.keys.peers), "--link-key-file", str(key)]
    assert check(*keys)[0] == 0
    key.chmod(0o640)
    code, text = check(*keys)
    assert code == 78 and "chmod 600" in text
    assert check("--bind", "tcp://127.0.0.1:7300", "--peers-file", str(links.keys.peers))[0] == 78


def test_the_operator_makes_and_checks_keys(links):
    def touchsync(*arguments):
        return subprocess.run([PROGRAMS / "touchsync", *arguments], capture_output=True, text=True, timeout=30)

    path = links.keys.make("committer", "committer-7", listed=False)
    assert path.stat().st_mode & 0o777 == 0o600
    assert touchsync("keys", "new", str(path)).returncode == 1
    public, secret = Keys.read(path)
    shown = touchsync("keys", "show", str(path), "--role", "committer", "--name", "committer-7").stdout
    assert shown == f"{public}\ncommitter committer-7 {public}\n" and secret not in shown
    endpoint = "committer-7=tcp://127.0.0.1:7200"
    report = touchsync(
        "doctor", "--json", "--committers", endpoint, "--link-key-file", str(path), "--peers-file",
        str(links.keys.peers)).stdout
    findings = [check["detail"] for check in json.loads(report)["checks"] if check["check"] == "links"]
    assert any("no key of committer committer-7" in finding for finding in findings)
    plain = json.loads(touchsync("doctor", "--json", "--committers", "committer-7=tcp://192.0.2.1:7200").stdout)
    assert any(check["check"] == "links" and check["grade"] == "fail" for check in plain["checks"])
