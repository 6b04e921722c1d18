"""What connections cost is given back, and no client makes the server hold more than it may."""

import asyncio
import itertools
import time

from client import PATH, Connection, Lost, member, polling

MIB = 1 << 20


async def open_and_upgrade(port, finish):
    """One session from polling to WebSocket, ended in the way that `finish` names."""
    http, sid = await polling(port)
    path = f"{PATH}websocket&sid={sid}"
    socket = await (await Connection.open(port)).upgrade(path)
    try:
        socket.send("2probe")
        assert await socket.receive() == "3probe"
        if finish == "upgrade lost":
            return socket.reset()
        # The noop that frees the poll, or a ping that was due just then.
        packet = await http.get(f"{PATH}polling&sid={sid}")
        assert packet in ("6", "2")
        socket.send("5")
        if packet == "2":
            socket.send("3")
        socket.send("40")
        assert (await socket.receive()).startswith("40")
        assert (await socket.receive()).startswith("42")
        if finish == "closed":
            socket.close_frame()
            await socket.ended()
        elif finish == "goodbye":
            socket.send("41")
            socket.send("1")
            await socket.ended()
        elif finish == "reset":
            socket.reset()
        # "silent": neither side says anything more, until the server misses the pong.
        return socket
    finally:
        if finish == "silent":
            http.close()
        else:
            http.reset()


async def wave(port, count):
    """Sessions of all kinds of ends; returns how many the server gave up before they had got that far."""
    finishes = itertools.cycle(["closed", "goodbye", "reset", "silent", "upgrade lost"])
    # Few are at work at a time, so that a busy machine does not make them miss pings; the silent ones pile up.
    at_work = asyncio.Semaphore(40)
    lost = 0

    async def one(finish):
        nonlocal lost
        try:
            async with at_work:
                socket = await open_and_upgrade(port, finish)
            if finish == "silent":
                await socket.ended()
                socket.close()
            elif finish != "reset" and socket:
                socket.close()
        except Lost:
            lost += 1

    await asyncio.gather(*(one(finish) for _, finish in zip(range(count), finishes)))
    return lost


def settle(server, sockets, within=15):
    """Waits until the server has closed all connections."""
    deadline = time.monotonic() + within
    while server.sockets() > sockets:
        assert time.monotonic() < deadline, f"{server.sockets()} sockets are open, {sockets} at the start"
        time.sleep(0.05)


def test_seven_thousand_connections_leave_memory_where_it_was(serve):
    server = serve("--ping-interval", 500, "--ping-timeout", 400)
    sockets = server.sockets()
    resident, lost = [], 0
    for _ in range(18):
        lost += asyncio.run(wave(server.port, 400))
        settle(server, sockets)
        resident.append(server.resident())
    assert lost < 100
    # Tables and buffers grow with the most that was ever there at once, and the allocator's gaps fill up: the first waves
    # are no measure. What is not given back grows with every wave: 100 bytes of each connection would be 40 kB.
    later = resident[10:]
    growth = sorted(after - before for before, after in itertools.pairwise(later))
    assert growth[len(growth) // 2] < 40_000, resident
    assert resident[-1] - resident[0] < 10 * MIB, resident


def test_a_client_that_does_not_read_holds_its_bound_and_no_more(serve):
    server = serve("--ping-interval", 20000, "--max-buffered-bytes", MIB)
    sockets = server.sockets()
    slow_readers, blob = 10, "x" * 60_000
    peaks, resident = [], []

    async def stop_reading(connection):
        """Asks for more and more and takes nothing, until it is cut. The kernel takes some 10 MB before the server does."""
        connection.writer.transport.pause_reading()
        try:
            for number in range(1000):
                connection.send(f'42["message",{number},"{blob}"]')
                await asyncio.wait_for(connection.writer.drain(), 15)
        except ConnectionError:
            return connection.close()
        raise AssertionError("60 MB were sent to a client that does not read")

    async def one_round():
        slow = [await member(server.port) for _ in range(slow_readers)]
        # The one who reads is not disturbed.
        reader = await member(server.port)
        stopped = [asyncio.create_task(stop_reading(connection)) for connection in slow]
        for number in range(100):
            reader.send(f'42["message",{number}]')
            assert await reader.receive() == f'42["message-back",{number}]'
            await asyncio.sleep(0)
        await asyncio.gather(*stopped)
        reader.close()

    before = server.resident()
    for _ in range(3):
        asyncio.run(one_round())
        settle(server, sockets)
        peaks.append(server.peak())
        resident.append(server.resident())
    print(before, peaks, resident)
    # Beside its bound each may have one message in the works, and the allocator keeps some slack.
    assert peaks[0] - before > slow_readers * MIB // 2, "nobody was slow"
    assert peaks[-1] - before < slow_readers * 2 * MIB, peaks
    assert max(resident) - before < slow_readers * MIB, resident
