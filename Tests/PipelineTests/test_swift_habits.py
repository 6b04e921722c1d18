"""What socket.io-client-swift writes and expects and other clients do not, one habit at a time, made by hand.

The client itself cannot be built on Linux; clients/swift.py imitates it as a whole. How it changes from polling to
WebSocket is in test_swift_upgrade.py.
"""

import asyncio
import json
import re
import time

import pytest

from clients.steps import back, entered, message, on_the_loop, packet_of
from clients.swift import SwiftClient
from clients.wire import SEPARATOR, Closed, Failed, Wire
from conformance import QUIET, ConformanceServer
from pipeline import eventually


@pytest.fixture(scope="module")
def server():
    """A server whose pings and deadlines do not get in the way."""
    with ConformanceServer(*QUIET) as server:
        yield server


# Spelling


@on_the_loop
async def test_the_namespace_is_spelt_out(server):
    """CONNECT is `40/,{…}` or `40/,`, DISCONNECT `41/,`; events have no prefix."""
    for payload in ('{"token":"x"}', ""):
        async with Wire(server.url) as wire:
            await wire.open()
            entered = await wire.enter(payload)
            assert entered["sid"] and entered["sid"] != wire.sid
            assert await wire.next() == f'42["auth",{payload or "{}"}]'
            await wire.post(message(1), "41/,")
            assert await wire.next() == back(1)
            # The engine stays, and lets it in again.
            await wire.enter()


@on_the_loop
async def test_the_order_of_the_query(server):
    """`b64=1` and the application's parameters stand before `EIO=4`; none of that matters."""
    async with Wire(server.url, params={"token": "a b&c", "roomId": "ü"}) as wire:
        await wire.open()
        await wire.enter()
        ws = await wire.websocket()
        ws.send("2probe")
        assert await ws.receive() == "3probe"
        ws.close()


@on_the_loop
async def test_the_open_packet_has_integers(server):
    """`as? Int` finds no other numbers, and divides by the interval."""
    async with Wire(server.url) as wire:
        [packet] = await wire.get()
        opening = wire.opened(packet)
        for name, least in (("pingInterval", 1), ("pingTimeout", 0), ("maxPayload", 1)):
            [digits] = re.findall(rf'"{name}":(\d+)[,}}]', packet)
            assert int(digits) >= least
        assert opening["upgrades"] == ["websocket"] and isinstance(opening["sid"], str)
    async with Wire(server.url) as wire:
        ws = await wire.websocket()
        assert wire.opened(await ws.receive())["upgrades"] == []
        ws.close()


@on_the_loop
async def test_its_websocket_handshake(server):
    """`Sec-Websocket-Key`, `Origin: ws://…`, and compression that it can do without."""
    async with Wire(server.url) as wire:
        ws = await wire.websocket(compress=True)
        assert "extensions" not in ws.head.lower()
        wire.opened(await ws.receive())
        ws.send("40/,")
        assert (await ws.receive()).startswith('40{"sid":')
        text = "x" * 5000
        ws.send(message(text))
        assert await packet_of(ws, lambda packet: packet.startswith('42["message-back"')) == back(text)
        ws.close()


@on_the_loop
async def test_binary_in_polling(server):
    """Attachments follow their packet as `b` and base64, also in one POST with others."""
    async with Wire(server.url) as wire:
        await entered(wire)
        await wire.post('451-["message",{"_placeholder":true,"num":0}]', "bAAEC/w==", message(2))
        assert await wire.next() == '451-["message-back",{"_placeholder":true,"num":0}]'
        assert await wire.next() == "bAAEC/w=="
        assert await wire.next() == back(2)


@on_the_loop
async def test_a_pong_that_nobody_asked_for(server):
    async with Wire(server.url) as wire:
        await entered(wire)
        await wire.post("3", "3", message(1))
        assert await wire.next() == back(1)


# Limits and ends


@on_the_loop
async def test_a_post_that_is_too_large(server):
    """It does not split by `maxPayload`. When a packet is larger, the answer is 413, and the session is over, so that it
    starts anew."""
    async with Wire(server.url) as wire:
        opening = await wire.open()
        await wire.enter()
        await wire.next()
        fits = "x" * (opening["maxPayload"] - len(message("")))
        await wire.post(message(fits))
        assert await wire.next() == back(fits)
        with pytest.raises(Failed) as refused:
            await wire.post(message(fits + "x"))
        assert refused.value.status == 413
        with pytest.raises(Failed) as refused:
            await wire.get()
        assert refused.value.status == 400


@on_the_loop
async def test_goodbye_while_a_poll_is_held(server):
    """It POSTs `1` with everything that waits for POST; the held poll ends."""
    async with Wire(server.url) as wire:
        await entered(wire)
        held = wire.poll()
        await wire.post("41/,", "1")
        assert await asyncio.wait_for(held, 5) in (["6"], ["1"])
        with pytest.raises(Failed) as refused:
            await wire.get()
        assert refused.value.status == 400


@on_the_loop
async def test_refused_it_keeps_its_engine():
    """CONNECT_ERROR leaves it waiting. The engine stays open until the connect timeout: were it closed at once, the
    client would come back at once with the same payload, and again."""
    with ConformanceServer("--connect-timeout", 1500) as server:
        async with Wire(server.url) as wire:
            started = time.monotonic()
            ws = await wire.websocket()
            wire.opened(await ws.receive())
            ws.send('40/,{"token":"reject"}')
            refusal = await packet_of(ws, lambda packet: packet.startswith("44"))
            assert json.loads(refusal[2:]) == {"message": "not authorized", "data": {"code": 401}}
            with pytest.raises(Closed):
                await packet_of(ws, lambda packet: False)
            assert time.monotonic() - started >= 1.4
        # Until then it may ask again with something better.
        async with Wire(server.url) as wire:
            await wire.open()
            await wire.post('40/,{"token":"reject"}')
            assert (await wire.next()).startswith("44{")
            await wire.enter('{"token":"better"}')


def test_the_same_payload_for_ever_and_new_numbers():
    """Whenever it connects again it sends the payload that it had, and its ack numbers go on."""
    with ConformanceServer(*QUIET) as server, SwiftClient(["polling", "websocket"]) as client:
        client.connect(server.url, {"token": "static"}, reconnects=True)
        for turn in range(1, 4):
            client.expect_count("auth", turn)
            assert client.call("message-with-ack", turn) == [turn]
            if turn < 3:
                server.kill()
                client.expect_count("disconnect", turn)
                server.start()
                client.expect_count("connect", turn + 1)
        assert client.named("auth") == [[{"token": "static"}]] * 3
        assert next(client.ack_numbers) == 3


def test_disconnected_by_the_server_it_stays_out():
    """`41` ends the socket, not the engine; nothing is sent until the app connects again. A closed engine it opens
    again, and its socket with it, unless that was sent away before."""
    with ConformanceServer(*QUIET) as server, SwiftClient(["websocket"]) as kicked, SwiftClient(["websocket"]) as other:
        kicked.connect(server.url, {}, reconnects=True)
        other.connect(server.url, {}, reconnects=True)
        kicked.emit("kick-me")
        kicked.expect("disconnect")
        server.kill()
        server.start()
        other.expect_count("connect", 2)
        eventually("its engine is open again", lambda: kicked.engine.connected)
        assert len(kicked.named("connect")) == 1
        kicked.connect_again({})
        assert kicked.call("message-with-ack", 1) == [1]


def test_separators_inside_text_are_none(server):
    """A payload's packets end at U+001E, which JSON never holds unescaped."""
    assert SEPARATOR not in json.dumps(SEPARATOR)
    with SwiftClient(["polling"]) as client:
        client.connect(server.url)
        assert client.call("message-with-ack", f"a{SEPARATOR}b") == [f"a{SEPARATOR}b"]
