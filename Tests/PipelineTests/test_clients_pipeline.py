"""Every client lives a whole life with the pipeline: it joins, moves things, is refused, loses token and gateway.

The clients are listed in clients/README.md; test_clients.py has the scenarios of the protocol alone.
"""

import pytest

import clients
from app import App
from clients import KINDS, Refused
from clients.chromium import Chromium
from clients.javascript import JavaScriptClient
from conftest import SECRET, settle
from shapes import JOINED, assert_element, assert_preview

EVERY_CLIENT = pytest.mark.parametrize("kind", KINDS)


def ok(client, event, payload):
    """Calls, and it must be fine."""
    [answer] = client.call(event, payload)
    assert answer["ok"] is True, (event, payload, answer)
    return answer


def join(client, room, **more):
    answer = ok(client, "room:join", {"roomId": room, **more})
    assert JOINED <= answer.keys()
    return answer


@pytest.fixture
def client(single, kind):
    """A connected client in open mode that is done with upgrading."""
    with clients.make(kind) as client:
        client.connect(single.url, {"userId": "ada", "name": "Ada"})
        client.wait_transport()
        yield client


@EVERY_CLIENT
def test_a_gesture(single, apps, room, client):
    """Previews and commits go both ways, and what is committed is acknowledged and told to everybody."""
    bob = apps(single.url, "bob")
    bob.join(room)
    joined = join(client, room)
    assert {member["userId"] for member in joined["members"]} == {"ada", "bob"} and joined["elements"] == []
    note = {"type": "note", "id": "e", "mine": ["ü", None]}
    created = ok(client, "element:create", {"roomId": room, "element": note})
    assert_element(created["element"], id="e", mine=["ü", None], createdBy="ada")
    assert client.expect("element:created")[0]["seq"] == bob.wait("element:created")["seq"] == created["seq"] == 1

    move = {"transform": {"rotation": 30}, "positionX": 4}
    client.emit("element:transforming", {"roomId": room, "elementId": "e", **move})
    preview = bob.wait("element:transforming")
    assert_preview(preview, ["positionX"])
    assert preview["userId"] == "ada" and preview["transform"] == {"rotation": 30} and preview["positionX"] == 4
    done = ok(client, "element:transform", {"roomId": room, "elementId": "e", "positionX": 7, "n": 1})
    assert done["seq"] == 2 and done["adjusted"] == [] and done["element"]["positionX"] == 7
    assert bob.wait("element:transformed")["element"] == client.expect("element:transformed")[0]["element"]

    bob.send("element:transforming", {"roomId": room, "elementId": "e", "transform": {"rotation": 60}})
    [preview] = client.expect("element:transforming")
    assert_preview(preview)
    assert preview["userId"] == "bob" and preview["transform"] == {"rotation": 60}
    done = bob.ok("element:transform", {"roomId": room, "elementId": "e", "transform": {"rotation": 60}})
    [update] = client.expect("element:transformed", lambda update: update["seq"] == done["seq"])
    assert_element(update["element"], id="e", rotation=60, positionX=7, updatedBy="bob")
    # Its own preview did not come back.
    assert [preview["userId"] for [preview] in client.named("element:transforming")] == ["bob"]


@EVERY_CLIENT
def test_an_app_that_knows_the_first_contract_only(single, apps, room, kind):
    bob = apps(single.url, "bob")
    bob.join(room)
    with clients.make(kind) as client:
        client.connect(single.url, {"userId": "ada", "roomId": room})
        client.emit("element:create", {"roomId": room, "element": {"type": "note", "id": "e"}})
        assert client.expect("element:created")[0]["id"] == bob.wait("element:created")["id"] == "e"
        client.emit("element:transform", {"roomId": room, "elementId": "nobody", "positionX": 1})
        [error] = client.expect("transform:error")
        assert error["code"] == "not_found" and error["elementId"] == "nobody" and error["message"]


@EVERY_CLIENT
def test_a_refusal(room, client):
    join(client, room)
    [answer] = client.call("element:transform", {"roomId": room, "elementId": "e", "transform": {"rotation": "x"}})
    assert answer["ok"] is False
    assert answer["error"]["code"] == "invalid" and answer["error"]["field"] == "transform.rotation"
    [answer] = client.call("element:paint", {"roomId": room})
    assert answer["error"]["code"] == "unknown_event"


@EVERY_CLIENT
def test_binary_is_refused(room, client):
    """Clearly: with an answer where one was asked for, and the connection goes on."""
    join(client, room)
    [answer] = client.call("element:create", {"roomId": room, "element": {"type": "note", "picture": b"\x89PNG"}})
    assert answer["ok"] is False and answer["error"]["code"] == "invalid" and "binary" in answer["error"]["message"]
    client.emit("element:transforming", {"roomId": room, "elementId": "e", "transform": b"\x00\x01"})
    [error] = client.expect("transform:error")
    assert error["code"] == "invalid" and "binary" in error["message"]
    ok(client, "element:create", {"roomId": room, "element": {"type": "note"}})
    assert client.named("disconnect") == [] and len(client.named("connect")) == 1


# Tokens


@pytest.fixture(scope="module")
def guarded(beside):
    """Everybody needs a token, and of the web pages only ours may connect."""
    origin = clients.place(Chromium).origin
    environment = {"TOUCHSYNC_JWT_SECRET": SECRET}
    with beside("--origins", origin, "--jwt-leeway-ms", 1000, environment=environment) as pipeline:
        yield pipeline


@EVERY_CLIENT
def test_a_bad_token_is_refused_and_a_good_one_taken(guarded, room, kind):
    with clients.make(kind) as client:
        with pytest.raises(Refused) as refused:
            client.connect(guarded.url, {"token": "nonsense"})
        assert refused.value.data["message"] and refused.value.data["data"]["code"] == "forbidden"
        client.connect_again({"token": guarded.token("ada", [room])})
        join(client, room)
        [answer] = client.call("room:join", {"roomId": room + "-other"})
        assert answer["error"]["code"] == "forbidden"


@pytest.fixture(scope="module")
def expired(guarded):
    """All clients, after their tokens ended."""
    made = {kind: clients.make(kind) for kind in KINDS}
    try:
        for kind, client in made.items():
            client.connect(guarded.url, {"token": guarded.token("ada", [kind], ttl=4)}, reconnects=True)
            join(client, kind)
        yield made
    finally:
        for client in made.values():
            client.__exit__()


@EVERY_CLIENT
def test_a_token_that_ends(guarded, expired, kind):
    """The server says so, disconnects, and takes the client back with a new one."""
    client = expired[kind]
    client.expect("disconnect")
    assert {error["code"] for [error] in client.named("auth:error")} == {"session_expired"}
    assert len(client.named("connect")) == 1
    client.connect_again({"token": guarded.token("ada", [kind])})
    join(client, kind)


def test_pages_from_elsewhere_may_not_connect(single, guarded, room):
    auth = {"token": guarded.token("ada", [room])}
    elsewhere = Chromium("localhost")
    try:
        for transports in clients.TRANSPORTS.values():
            with JavaScriptClient(transports, elsewhere) as client:
                client.start(guarded.url, auth, reconnects=False)
                client.expect("unreachable")
                assert client.named("connect") == []
            # It is not the page's fault.
            with JavaScriptClient(transports, elsewhere) as client:
                client.connect(single.url, {"userId": "ada"})
    finally:
        elsewhere.close()


# A gateway that dies


@pytest.fixture(scope="module")
def outage(beside):
    """All clients, each in a room of its own, before and after their gateway was killed: what each knew when it
    happened. Meanwhile somebody on another gateway goes on."""
    made = {kind: clients.make(kind) for kind in KINDS}
    known = {}
    with beside("--commit-burst", 1000, "--origins", "*", gateways=2) as pipeline:
        settle(pipeline)
        neighbour = App(pipeline.urls[1], "neighbour").connect()
        try:
            for kind, client in made.items():
                client.connect(pipeline.urls[0], {"userId": "ada"}, reconnects=True)
                client.wait_transport()
                joined = join(client, kind)
                neighbour.join(kind)
                created = ok(client, "element:create", {"roomId": kind, "element": {"type": "note", "id": "e"}, "n": 1})
                known[kind] = {"session": joined["session"], "epoch": joined["epoch"], "seq": created["seq"]}
                # On its way when the gateway dies: taken or not, nobody knows.
                client.emit("element:transform", {"roomId": kind, "elementId": "e", "positionY": 5, "n": 2})
            victim = pipeline.kill("gateway", 0)
            for kind in KINDS:
                for step in range(3):
                    move = {"roomId": kind, "elementId": "e", "positionX": step}
                    assert neighbour.call("element:transform", move)["ok"]
            pipeline.wait_restarted(victim)
            yield pipeline, neighbour, made, known
        finally:
            neighbour.close()
            for client in made.values():
                client.__exit__()


@EVERY_CLIENT
def test_its_gateway_is_killed(outage, kind):
    """It comes back by itself, gets what it missed without a gap, and a commit sent twice counts once."""
    pipeline, neighbour, made, known = outage
    client, before = made[kind], known[kind]
    client.expect_count("connect", 2)
    assert len(client.named("disconnect")) == 1
    heard = [update["seq"] for [update] in client.named("element:transformed")]
    position = max([before["seq"], *heard])
    assert heard == list(range(before["seq"] + 1, position + 1))

    resume = {"epoch": before["epoch"], "seq": position}
    joined = join(client, kind, session=before["session"], resume=resume)
    assert joined["recovered"] is True and joined["session"] == before["session"] and joined["n"] in (1, 2)
    assert [update["seq"] for update in joined["updates"]] == list(range(position + 1, joined["seq"] + 1))
    move = {"roomId": kind, "elementId": "e", "positionY": 5, "n": 2}
    again = ok(client, "element:transform", move)
    assert again.get("duplicate", False) == (joined["n"] == 2)
    third = ok(client, "element:transform", {**move, "positionY": 6, "n": 3})
    assert neighbour.wait_seq(third["seq"], room=kind).data["element"]["positionY"] == 6
    # One creation, the second and third commit, and three of the neighbour's.
    assert pipeline.assert_gapless(kind) == 6
    client.expect("element:transformed", lambda update: update["seq"] == third["seq"])
