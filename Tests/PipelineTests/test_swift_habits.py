"""What socket.io-client-swift writes and expects and other clients do not, one habit at a time, made by hand.

The client itself cannot be built on Linux; clients/swift.py imitates it as a whole. What the server does while it changes
from polling to WebSocket is in SocketIOTests.
"""

import json
import re

import pytest

from clients.steps import back, message, on_the_loop, packet_of, probed
from clients.swift import SwiftClient
from clients.wire import SEPARATOR, Failed, Wire
from conformance import QUIET, ConformanceServer
from pipeline import eventually
from sticky import StickyProxy


@pytest.fixture(scope="module")
def server():
    """A server whose pings and deadlines do not get in the way."""
    with ConformanceServer(*QUIET) as server:
        yield server


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


@on_the_loop
async def test_connect_waits_until_the_upgrade_is_over(server):
    """CONNECT comes on the WebSocket, behind `5`."""
    async with Wire(server.url) as wire:
        await wire.open()
        ws = await probed(wire)
        ws.send("5")
        ws.send('40/,{"b":2}')
        assert (await ws.receive()).startswith('40{"sid":')
        assert await ws.receive() == '42["auth",{"b":2}]'
        ws.close()


@on_the_loop
async def test_cookies_are_carried_to_the_websocket():
    """Behind a proxy that keeps an app on one server by a cookie, the WebSocket finds the session of its polling."""
    with ConformanceServer(*QUIET) as first, ConformanceServer(*QUIET) as second:
        async with StickyProxy([first.port, second.port]) as proxy:
            for _ in range(4):
                async with Wire(proxy.url) as wire:
                    await wire.open()
                    await wire.enter()
                    await wire.next()
                    ws = await probed(wire)
                    ws.send("5")
                    ws.send(message("found"))
                    assert await ws.receive() == back("found")
                    ws.close()
            assert proxy.chosen == {0, 1}
            # Without its cookies it does not get there every time.
            async with Wire(proxy.url) as wire:
                await wire.open()
                wire.session.cookie_jar.clear()
                with pytest.raises(Failed):
                    for _ in range(2):
                        wire.session.cookie_jar.clear()
                        await wire.websocket()
