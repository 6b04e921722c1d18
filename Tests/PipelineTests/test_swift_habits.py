"""What socket.io-client-swift does on the wire and other clients do not, one habit at a time, step by step.

The client itself cannot be built on Linux. clients/swift.py imitates it as a whole; here each step is made by hand, so
that what depends on timing happens every time.
"""

import asyncio
import contextlib
import functools
import json
import re
import time

import pytest

from app import LOOP
from clients.swift import SwiftClient
from clients.wire import SEPARATOR, Closed, Failed, Wire
from conformance import ConformanceServer
from pipeline import Overdue, eventually
from sticky import StickyProxy

QUIET = ("--ping-interval", 25_000, "--ping-timeout", 20_000, "--connect-timeout", 20_000)


@pytest.fixture(scope="module")
def server():
    """A server whose pings and deadlines do not get in the way."""
    with ConformanceServer(*QUIET) as server:
        yield server


def on_the_loop(test):
    """Lets a test be a coroutine."""

    async def in_time(*arguments, **named):
        try:
            await test(*arguments, **named)
        except TimeoutError as late:
            raise Overdue("a step of the test came to no end") from late

    @functools.wraps(test)
    def run(*arguments, **named):
        LOOP.run(in_time(*arguments, **named), 40)

    return run


def message(*arguments):
    """The packet of an event that comes back."""
    return "42" + json.dumps(["message", *arguments], separators=(",", ":"))


def back(*arguments):
    """The same packet when it comes back."""
    return "42" + json.dumps(["message-back", *arguments], separators=(",", ":"))


async def packet_of(ws, fits):
    """The first packet on a WebSocket that fits; pings are answered on the way."""
    while True:
        packet = await ws.receive()
        if packet == "2":
            ws.send("3")
        elif fits(packet):
            return packet


async def probed(wire):
    """A WebSocket that was probed while a poll was held, and that poll's successor, which is held too."""
    held = wire.poll()
    ws = await wire.websocket()
    ws.send("2probe")
    assert await ws.receive() == "3probe"
    await held
    return ws


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
        await wire.open()
        await wire.enter()
        await wire.next()
        await wire.post('451-["message",{"_placeholder":true,"num":0}]', "bAAEC/w==", message(2))
        assert await wire.next() == '451-["message-back",{"_placeholder":true,"num":0}]'
        assert await wire.next() == "bAAEC/w=="
        assert await wire.next() == back(2)


# The upgrade


@on_the_loop
async def test_connect_is_posted_while_it_probes(server):
    """The WebSocket is opened at once, while a poll is held and CONNECT is on its way; the answer comes once."""
    async with Wire(server.url) as wire:
        await wire.open()
        held = wire.poll()
        opening = asyncio.create_task(wire.websocket())
        posting = asyncio.create_task(wire.post('40/,{"a":1}'))
        ws = await opening
        ws.send("2probe")
        packets = []
        while await asyncio.wait_for(held, 5) != ["6"]:
            packets += held.result()
            held = wire.poll()
        await posting
        assert await ws.receive() == "3probe"
        ws.send("5")
        ws.send(message("end"))
        while packets[-1:] != [back("end")]:
            packets.append(await ws.receive())
        packets = [packet for packet in packets if packet != "6"]
        assert packets[0].startswith('40{"sid":') and packets[1:] == ['42["auth",{"a":1}]', back("end")]
        ws.close()


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
async def test_a_poll_that_returned_too_early_is_followed_by_another(server):
    """Only a poll that returns after `3probe` was seen lets it change over, so every poll has to be released, in time."""
    async with Wire(server.url) as wire:
        await wire.open()
        await wire.enter()
        await wire.next()
        held = wire.poll()
        ws = await wire.websocket()
        ws.send("2probe")
        # The noop came; `3probe` was not looked at yet, so it polls again, and again.
        assert await asyncio.wait_for(held, 5) == ["6"]
        for _ in range(5):
            assert await asyncio.wait_for(wire.poll(), 5) == ["6"]
        assert await ws.receive() == "3probe"
        ws.send("5")
        ws.send(message("changed"))
        assert await ws.receive() == back("changed")
        ws.close()


@on_the_loop
async def test_nothing_is_delivered_on_the_websocket_before_the_change(server):
    """What happens while it probes comes by polling or after `5`: once, in order, and never before."""
    async with Wire(server.url) as wire:
        await wire.open()
        await wire.enter()
        await wire.next()
        ws = await wire.websocket()
        ws.send("2probe")
        assert await ws.receive() == "3probe"
        early = asyncio.create_task(ws.receive())
        polled = []
        for number in range(6):
            await wire.post(message(number))
            if number % 2:
                polled += [packet for packet in await wire.get() if packet != "6"]
        await wire.post(message(6))
        assert not early.done()
        ws.send("5")
        ws.send(message(7))
        polled.append(await early)
        while polled[-1] != back(7):
            polled.append(await ws.receive())
        assert polled == [back(number) for number in range(8)]
        ws.close()


@on_the_loop
async def test_the_rest_of_its_post_queue_comes_on_the_websocket(server):
    """Behind `5` come the writes that waited, and what it had not POSTed, a noop `6` among it."""
    async with Wire(server.url) as wire:
        await wire.open()
        await wire.enter()
        await wire.next()
        ws = await probed(wire)
        for packet in ("5", "3", message("waited"), "6", message("left over")):
            ws.send(packet)
        assert await ws.receive() == back("waited")
        assert await ws.receive() == back("left over")
        ws.close()


@on_the_loop
async def test_a_post_that_the_change_overtakes(server):
    """It does not wait for its POST before `5`, and would not notice if that failed. On a slow link the body comes late;
    what is in it counts."""
    async with Wire(server.url) as wire:
        await wire.open()
        arrived = asyncio.Event()

        async def slowly():
            body = b'40/,{"late":1}'
            yield body[:3]
            await arrived.wait()
            yield body[3:]

        posting = asyncio.create_task(wire.post_body(slowly()))
        ws = await probed(wire)
        ws.send("5")
        # The change is over: the server does not take polls any more.
        async with asyncio.timeout(5):
            with pytest.raises(Failed):
                while True:
                    await wire.get()
        arrived.set()
        assert (await ws.receive()).startswith('40{"sid":')
        assert await ws.receive() == '42["auth",{"late":1}]'
        await posting
        ws.close()


@pytest.mark.parametrize("when", ["before the probe", "before the answer", "after the answer"])
@on_the_loop
async def test_the_websocket_fails_while_it_probes(server, when):
    """It falls back to polling and POSTs what waited, as if nothing had been; a new attempt is welcome."""
    async with Wire(server.url) as wire:
        await wire.open()
        await wire.enter()
        await wire.next()
        held = wire.poll()
        ws = await wire.websocket()
        if when != "before the probe":
            ws.send("2probe")
        if when == "after the answer":
            assert await ws.receive() == "3probe"
        ws.abort()
        await wire.post("3", message(1), message(2))
        packets = await asyncio.wait_for(held, 5)
        await wire.post(message("still polling"))
        while packets[-1] != back("still polling"):
            packets.append(await wire.next())
        assert [packet for packet in packets if packet != "6"] == [back(1), back(2), back("still polling")]
        # The server notices the end of the first one on its own time.
        async with asyncio.timeout(5):
            while True:
                ws = await wire.websocket()
                ws.send("2probe")
                with contextlib.suppress(Closed):
                    assert await ws.receive() == "3probe"
                    break
        ws.send("5")
        ws.send(message("changed"))
        assert await packet_of(ws, lambda packet: packet != "6") == back("changed")
        ws.close()


@on_the_loop
async def test_a_second_websocket_is_turned_away(server):
    async with Wire(server.url) as wire:
        await wire.open()
        await wire.enter()
        await wire.next()
        ws = await probed(wire)
        ws.send("5")
        ws.send(message(1))
        assert await ws.receive() == back(1)
        second = await wire.websocket()
        second.send("2probe")
        with pytest.raises(Closed):
            await second.receive()
        # Nor does it poll any more.
        with pytest.raises(Failed) as refused:
            await wire.get()
        assert refused.value.status == 400 and isinstance(json.loads(refused.value.body)["code"], int)
        ws.send(message(2))
        assert await ws.receive() == back(2)
        ws.close()


@on_the_loop
async def test_pongs_wait_while_it_probes():
    """A ping that comes while it probes is answered after the change only; the session lives."""
    with ConformanceServer("--ping-interval", 200, "--ping-timeout", 300, "--connect-timeout", 20_000) as server:
        async with Wire(server.url) as wire:
            await wire.open()
            await wire.enter()
            ws = await wire.websocket()
            ws.send("2probe")
            assert await ws.receive() == "3probe"
            # Its polls go on until one is a ping, and then much longer than a pong may take.
            end = time.monotonic() + 2
            seen = []
            while time.monotonic() < end:
                seen += await wire.get()
                await asyncio.sleep(0.05)
            assert "2" in seen
            for packet in ("5", "3", message("alive")):
                ws.send(packet)
            assert await packet_of(ws, lambda packet: packet == back("alive"))
            ws.close()


@on_the_loop
async def test_a_pong_that_nobody_asked_for(server):
    async with Wire(server.url) as wire:
        await wire.open()
        await wire.enter()
        await wire.next()
        await wire.post("3", "3", message(1))
        assert await wire.next() == back(1)


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


# Limits and ends


@on_the_loop
async def test_a_post_that_is_too_large(server):
    """It does not split by `maxPayload`. The answer is 413, and the session is over, so that it starts anew."""
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
        await wire.open()
        await wire.enter()
        await wire.next()
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
