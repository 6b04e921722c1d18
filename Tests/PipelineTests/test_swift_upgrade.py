"""How socket.io-client-swift changes from polling to WebSocket, step by step, so that what depends on timing happens
every time. It opens the WebSocket at once, keeps all writes back from then on, and changes over when a poll returns after it
saw `3probe`.
"""

import asyncio
import contextlib
import json
import time

import pytest

from clients.steps import back, changed, entered, enters_late, message, on_the_loop, packet_of, probed
from clients.wire import Closed, Failed, Wire
from conformance import QUIET, ConformanceServer
from sticky import StickyProxy


@pytest.fixture(scope="module")
def server():
    """A server whose pings and deadlines do not get in the way."""
    with ConformanceServer(*QUIET) as server:
        yield server


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
    """Only a poll that returns after `3probe` was seen lets it change over, so every poll has to be released."""
    async with Wire(server.url) as wire:
        await entered(wire)
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
        await entered(wire)
        # One packet waits already when it probes.
        await wire.post(message(0))
        ws = await wire.websocket()
        ws.send("2probe")
        assert await ws.receive() == "3probe"
        early = asyncio.create_task(ws.receive())
        polled = []
        for number in range(1, 6):
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
        await entered(wire)
        ws = await probed(wire)
        for packet in ("5", "3", message("waited"), "6", message("left over")):
            ws.send(packet)
        assert await ws.receive() == back("waited")
        assert await ws.receive() == back("left over")
        ws.close()


@on_the_loop
async def test_a_post_that_the_change_overtakes(server):
    """It does not wait for its POST before `5`, and would not notice if that failed. On a slow link the body comes
    late; what is in it counts."""
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
        await changed(wire)
        arrived.set()
        await enters_late(ws)
        await posting
        ws.close()


@on_the_loop
async def test_a_post_that_arrives_after_the_change(server):
    """The same on a fast link: its poll returns while CONNECT is still on the way to the server."""
    async with Wire(server.url) as wire:
        await wire.open()
        ws = await probed(wire)
        ws.send("5")
        await changed(wire)
        await wire.post('40/,{"late":1}')
        await enters_late(ws)
        ws.close()


@pytest.mark.parametrize("when", ["before the probe", "before the answer", "after the answer"])
@on_the_loop
async def test_the_websocket_fails_while_it_probes(server, when):
    """It falls back to polling and POSTs what waited, as if nothing had been; a new attempt is welcome."""
    async with Wire(server.url) as wire:
        await entered(wire)
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
        await entered(wire)
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
    with ConformanceServer("--ping-interval", 300, "--ping-timeout", 700, "--connect-timeout", 20_000) as server:
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
