"""Every client passes the same scenarios, against the bare Socket.IO server: connect with auth, refusal, events,
acknowledgements both ways, binary, order across the upgrade, heartbeat, the server's disconnect, and reconnects.

The clients are listed in clients/README.md; test_clients_pipeline.py is the same for the pipeline.
"""

import pytest

import clients
from clients import KINDS, Refused
from conformance import QUIET, ConformanceServer
from pipeline import eventually

EVERY_CLIENT = pytest.mark.parametrize("kind", KINDS)
pytestmark = EVERY_CLIENT

AUTH = {"token": "let me in", "text": "grüße ✓ \u2028", "list": [1, 2.5, None, True, {"deep": []}]}
VALUES = ["text ✓ 🙂", 0, -1.5, True, None, [1, [2, []]], {"key": {"ü": "\"\\\n"}}]


@pytest.fixture(scope="module")
def server():
    """A server whose pings and deadlines do not get in the way."""
    with ConformanceServer(*QUIET) as server:
        yield server


@pytest.fixture
def client(server, kind):
    """A connected client that is done with upgrading."""
    with clients.make(kind) as client:
        client.connect(server.url, AUTH)
        client.wait_transport()
        yield client


def test_connect_with_auth(server, client):
    assert client.expect("auth") == [AUTH]
    assert client.named("connect") == [[]] and client.named("disconnect") == []
    # Without any, too.
    with clients.make("python-polling") as other:
        assert other.connect(server.url).expect("auth") == [{}]


def test_refusal(server, kind):
    with clients.make(kind) as client:
        with pytest.raises(Refused) as refused:
            client.connect(server.url, {"token": "reject"})
        assert refused.value.data == {"message": "not authorized", "data": {"code": 401}}
        assert client.named("connect") == [] and client.named("auth") == []


def test_emit(client):
    client.emit("message", *VALUES)
    assert client.expect("message-back") == VALUES
    client.emit("message")
    assert client.expect("message-back", lambda *arguments: not arguments) == []
    long = "0123456789" * 20_000
    client.emit("message", long)
    assert client.expect("message-back", lambda *arguments: arguments[:1] == (long,)) == [long]


def test_acknowledged_by_the_server(client):
    assert client.call("message-with-ack", *VALUES) == VALUES
    assert client.call("message-with-ack") == []
    # Each gets its own.
    assert [client.call("message-with-ack", number) for number in range(12)] == [[number] for number in range(12)]


def test_binary(client):
    data = [bytes(range(256)), b"", b"\x04"]
    client.emit("message", {"first": data[0]}, [data[1]], "between", data[2])
    assert client.expect("message-back") == [{"first": data[0]}, [data[1]], "between", data[2]]
    assert client.call("message-with-ack", data[0], 5, {"and": data[2]}) == [data[0], 5, {"and": data[2]}]
    # Text goes on behind it.
    assert client.call("message-with-ack", "text") == ["text"]


def test_every_text_of_json(client):
    assert client.call("message-with-ack", "a\u0000b") == ["a\u0000b"]
    client.emit("message", {"a\u0000b": ["\u0000"]})
    assert client.expect("message-back") == [{"a\u0000b": ["\u0000"]}]


def test_to_others(server, client):
    with clients.make("python-websocket") as other:
        other.connect(server.url)
        assert client.call("join", "room") == ["ok"] and other.call("join", "room") == ["ok"]
        other.emit("room-cast", "room", "to you", b"\x00\xff")
        assert client.expect("room-msg") == ["room", "to you", b"\x00\xff"]
        client.emit("room-cast", "room", "and back")
        assert other.expect("room-msg") == ["room", "and back"]
        assert client.call("leave", "room") == ["ok"]
        other.emit("room-cast", "room", "to nobody")
        assert other.call("message-with-ack", 1) == [1] and client.call("message-with-ack", 1) == [1]
        assert len(client.named("room-msg")) == 1


def test_burst(server, client):
    """More at once than python-engineio takes in one polling answer."""
    with clients.make("python-websocket") as other:
        other.connect(server.url)
        assert client.call("join", "all") == ["ok"] and other.call("join", "all") == ["ok"]
        other.emit_all("room-cast", *(("all", number) for number in range(200)))
        assert client.expect_count("room-msg", 200) == [["all", number] for number in range(200)]
        assert client.named("disconnect") == []


def test_order_across_the_upgrade(server, kind):
    """What is said from the first moment on, while the transports change, comes back once and in order."""
    with clients.make(kind) as client:
        client.connect(server.url)
        before = client.transport
        for number in range(60):
            client.emit("message", number, b"x" * number) if number % 10 == 9 else client.emit("message", number)
        client.wait_transport()
        for number in range(60, 80):
            client.emit("message", number)
        back = client.expect_count("message-back", 80)
        assert [arguments[0] for arguments in back] == list(range(80))
        assert back[59][1] == b"x" * 59
        assert before in client.transports and client.transport == client.settled_transport


def test_disconnected_by_the_server(client):
    client.emit("kick-me")
    client.expect("disconnect")
    assert client.named("connect") == [[]]
    client.connect_again(AUTH)
    assert client.call("message-with-ack", "back again") == ["back again"]
    assert len(client.named("connect")) == 2 and client.named("auth")[-1] == [AUTH]


def test_reconnect(kind):
    """The server dies and comes back: the client finds it by itself and sends the same auth again."""
    with ConformanceServer(*QUIET) as server, clients.make(kind) as client:
        client.connect(server.url, AUTH, reconnects=True)
        client.wait_transport()
        assert client.call("message-with-ack", 1) == [1]
        server.kill()
        client.expect("disconnect")
        server.start()
        client.expect_count("connect", 2)
        client.expect_count("auth", 2)
        assert client.named("auth") == [[AUTH], [AUTH]]
        client.wait_transport()
        assert client.call("message-with-ack", 2) == [2]


@pytest.fixture(scope="module")
def patient():
    """All clients, after being silent for some pings of a server that gives up on who does not answer them."""
    with ConformanceServer("--ping-interval", 500, "--ping-timeout", 2000, "--connect-timeout", 20_000) as server:
        made = {kind: clients.make(kind) for kind in KINDS}
        try:
            for client in made.values():
                client.connect(server.url)
            # Who answers no ping at all is gone after 2.5 s; this one answers none.
            with clients.make("swift-websocket") as mute:
                mute.connect(server.url)
                mute.engine.write = lambda *_: None
                mute.expect("disconnect")
            yield made
        finally:
            for client in made.values():
                client.__exit__()


def test_heartbeat(patient, kind):
    client = patient[kind]
    assert client.named("disconnect") == [] and client.named("connect") == [[]]
    assert client.call("message-with-ack", "alive") == ["alive"]
    eventually("it is on its last transport", lambda: client.transport == client.settled_transport)
