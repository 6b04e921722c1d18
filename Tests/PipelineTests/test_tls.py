"""Gateways that speak TLS themselves."""

import os
import pathlib
import signal
import socket
import ssl
import tempfile

import pytest
import requests

from app import POLLING, UPGRADE, WEBSOCKET
from certificates import Certificate
from pipeline import eventually


class Secure:
    """Two gateways with one certificate, and a connection to the first that never finishes its handshake."""

    def __init__(self, pipeline, certificate):
        self.pipeline = pipeline
        self.certificate = certificate
        self.context = certificate.context()
        self.port = int(pipeline.url.rsplit(":", 1)[1])
        self.silent = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        # The beginning of a record.
        self.silent.sendall(b"\x16\x03\x01\x02\x00\x01")

    def metric(self, name):
        return self.pipeline.metrics("gateway")["touchsync_" + name]

    def connect(self, context=None):
        """A TLS connection of a client."""
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        return (context or self.context).wrap_socket(plain, server_hostname="localhost")

    def shown(self, context):
        """The certificate that a new connection is shown, one of those that the context trusts."""
        with self.connect(context) as connection:
            return connection.getpeercert(binary_form=True)

    def get(self, path, index=0, **more):
        return requests.get(self.pipeline.urls[index] + path, verify=str(self.certificate.certificate), timeout=10, **more)

    def notes(self):
        answer = requests.get(self.pipeline.processes("gateway")[0]["http"] + "/readyz", timeout=5)
        assert answer.status_code == 200, answer.text
        return [note["reason"] for note in answer.json().get("notes", []) if note["check"] == "certificates"]


@pytest.fixture(scope="module")
def secure(beside):
    with tempfile.TemporaryDirectory() as folder:
        made = Certificate.make(pathlib.Path(folder))
        with beside("--tls-certificate", made.certificate, "--tls-key", made.key, gateways=2) as pipeline:
            yield Secure(pipeline, made)


@pytest.mark.parametrize("transports", [WEBSOCKET, POLLING, UPGRADE], ids=["websocket", "polling", "upgrade"])
def test_apps_work_together_over_tls(secure, apps, room, transports):
    assert all(url.startswith("https://127.0.0.1:") for url in secure.pipeline.urls)
    ada = apps(secure.pipeline.urls[0], "ada", transports=transports, tls=secure.context)
    bob = apps(secure.pipeline.urls[1], "bob", transports=transports, tls=secure.context)
    for app in (ada, bob):
        app.join(room)
    done = ada.ok("element:create", {"roomId": room, "element": {"id": "note-1", "type": "note"}})
    bob.wait_seq(done["seq"])
    ada.send("element:transforming", {"roomId": room, "elementId": "note-1", "transform": {"rotation": 30}})
    bob.wait("element:transforming", lambda data: data["transform"] == {"rotation": 30})


# Who is let in


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["1.2", "1.3"])
def test_http_1_is_negotiated(secure, version):
    context = secure.certificate.context()
    context.minimum_version = context.maximum_version = version
    context.set_alpn_protocols(["h2", "http/1.1"])
    with secure.connect(context) as connection:
        assert connection.selected_alpn_protocol() == "http/1.1"
        # Keys that are gone afterwards, and authenticated encryption.
        assert connection.cipher()[0].startswith(("TLS_", "ECDHE-"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tls_1_1_is_refused(secure):
    context = secure.certificate.context()
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    before = secure.metric("gateway_tls_failures_total")
    with pytest.raises(ssl.SSLError, match="ALERT_PROTOCOL_VERSION"):
        secure.connect(context)
    eventually("it is counted", lambda: secure.metric("gateway_tls_failures_total") > before)


# Files


def test_another_certificate_is_for_new_connections(secure, apps, room, tmp_path):
    old = apps(secure.pipeline.url, "ada", tls=secure.context)
    old.join(room)
    first = Certificate(tmp_path / "first.pem", tmp_path / "first.key")
    secure.certificate.copy(first)
    second = Certificate.make(tmp_path, "second")
    changed = 'file_reloads_total{file="certificates",outcome="changed"}'
    refused = 'file_reloads_total{file="certificates",outcome="refused"}'
    before = secure.metric(changed)
    second.copy(secure.certificate)
    eventually("the certificate is read", lambda: secure.metric(changed) > before)
    # It reaches the event loop of the connections a moment later.
    either = first.context()
    either.load_verify_locations(second.certificate)
    eventually("the second certificate is shown", lambda: secure.shown(either) == second.der)
    secure.context = second.context()
    assert old.ok("client:ping", {})
    # A pair that does not match is not accepted: the second certificate stays.
    count = secure.metric(refused)
    secure.certificate.key.write_bytes(first.key.read_bytes())
    eventually("the pair is refused", lambda: secure.metric(refused) > count)
    assert "is not the key of the certificate" in secure.notes()[0] and secure.metric('file_refused{file="certificates"}') == 1
    assert secure.shown(either) == second.der
    # So is a key that others can read.
    count = secure.metric(refused)
    secure.certificate.key.write_bytes(second.key.read_bytes())
    secure.certificate.key.chmod(0o644)
    eventually("the key is refused", lambda: secure.metric(refused) > count and "mode 644" in secure.notes()[0])
    secure.certificate.key.chmod(0o600)
    for process in secure.pipeline.processes("gateway"):
        os.kill(process["pid"], signal.SIGHUP)
    eventually("the pair is accepted", lambda: secure.metric('file_refused{file="certificates"}') == 0)
    assert secure.notes() == []
    assert old.ok("client:ping", {}) and old.connects == 1
