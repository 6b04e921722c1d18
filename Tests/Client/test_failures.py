"""Why the client in Swift is not connected, as real daemons let it fail."""

import functools
import http.server
import socket
import threading

import pytest

from conftest import SECRET
from pipeline import running


@pytest.fixture(scope="module")
def strict():
    """A gateway that has another name, and wants tokens."""
    with running("--hosts", "touch.example", environment={"TOUCHSYNC_JWT_SECRET": SECRET}) as pipeline:
        yield pipeline


@pytest.fixture
def failure(clients_of):
    """The first failure of a client of a server, within 5 s."""

    def find(url, **options):
        client = clients_of("swift", url, "ada", **options)
        client.call("connect")
        return client.wait("failure", within=5)

    return find


def test_a_gateway_of_another_name(strict, failure):
    found = failure(strict.url)
    assert found["code"] == "origin" and "hosts" in found["message"], found


def test_another_web_server(failure, tmp_path):
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found = failure(f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
    assert found["code"] == "not_touchsync" and "404" in found["message"], found


def test_a_server_that_says_nothing(failure):
    with socket.create_server(("127.0.0.1", 0)) as server:
        found = failure(f"http://127.0.0.1:{server.getsockname()[1]}")
    assert found["code"] == "unreachable", found


def test_the_monitor_wants_an_operator(strict, failure):
    found = failure(strict.monitor)
    assert found["code"] == "refused" and "401" in found["message"], found


def test_a_gateway_that_is_stopped(failure):
    with running() as pipeline:
        url = pipeline.url
    found = failure(url)
    assert found["code"] == "refused" and url.removeprefix("http://") in found["message"], found


def test_a_token_that_the_gateway_refuses(clients_of):
    with running(environment={"TOUCHSYNC_JWT_SECRET": SECRET}) as pipeline:
        client = clients_of("swift", pipeline.url, hasTokens=True)
        client.call("connect")
        client.wait("token")
        client.call("token", "no.token.at-all")
        found = client.wait("failure", within=5)
        assert found["code"] == "token" and "token" in found["message"], found
        client.wait("token", lambda reason: reason == "refused")
        client.call("token", None)
        client.wait_state("expired")
