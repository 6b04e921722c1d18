"""A TCP proxy that misbehaves on command: it cuts, cuts after so many bytes, delays, holds back, or swallows one way."""

import asyncio

import zmtp
from machines import LOCAL

# The two ways through a proxy: from the side that connected to the side that was connected to, and back.
UP, DOWN = 0, 1


class Way:
    """What a proxy does to the bytes of one direction. Everything of it may change at any time."""

    def __init__(self):
        # Seconds that everything is late.
        self.delay = 0.0
        # Nothing goes through; it waits and goes through later.
        self.is_held = False
        # Nothing goes through, and it never will: the connection has to be cut before this ends.
        self.is_swallowed = False
        # The connection is cut once so many bytes more went through; None for never.
        self.cut_after = None
        # Every n-th message of a ZeroMQ link goes through twice; 0 for never.
        self.repeats_every = 0
        # What becomes of the messages of a ZeroMQ link; see `zmtp`.
        self.rewrite = None

    def clear(self):
        self.__init__()


class Side(asyncio.Protocol):
    """One of the two connections of a pipe."""

    def __init__(self, pipe, way):
        self.pipe = pipe
        # Where the bytes go that this side receives.
        self.way = way
        self.other = None
        self.transport = None
        self.waiting = []
        self.late = []
        self.repeater = None

    def connection_made(self, transport):
        self.transport = transport
        self.pipe.made(self)

    def data_received(self, data):
        way = self.pipe.proxy.ways[self.way]
        if way.is_swallowed or self.pipe.is_deaf:
            self.pipe.is_torn = True
            return
        if self.pipe.proxy.may_repeat:
            if self.repeater is None:
                self.repeater = zmtp.Repeater()
            data, repeated = self.repeater.feed(data, way.repeats_every, way.rewrite)
            self.pipe.proxy.repeated += repeated
        if way.cut_after is not None:
            data = data[: way.cut_after]
            way.cut_after -= len(data)
        if data:
            self._pass(data, way)
        if way.cut_after == 0:
            way.cut_after = None
            self.pipe.proxy.cuts += 1
            self.pipe.deafen()
            # What was let through has to leave first.
            asyncio.get_running_loop().call_later(0.01, self.pipe.cut)

    def _pass(self, data, way):
        if self.other is None or way.is_held or self.waiting:
            self.waiting.append(data)
            if len(self.waiting) > 64 and not self.transport.is_closing():
                self.transport.pause_reading()
        elif way.delay or self.late:
            self.late.append(data)
            asyncio.get_running_loop().call_later(way.delay, self._deliver_late)
        elif not self.other.transport.is_closing():
            self.other.transport.write(data)

    def _deliver_late(self):
        if self.late:
            data = self.late.pop(0)
            if not self.pipe.is_over:
                self.other.transport.write(data)

    def release(self):
        """Lets go what waits, unless it is still held."""
        if self.other is None or self.pipe.proxy.ways[self.way].is_held or self.pipe.is_over:
            return
        waiting, self.waiting = self.waiting, []
        for data in waiting:
            self.other.transport.write(data)
        if not self.transport.is_closing():
            self.transport.resume_reading()

    def pause_writing(self):
        if self.other and not self.other.transport.is_closing():
            self.other.transport.pause_reading()

    def resume_writing(self):
        if self.other and not self.other.waiting and not self.other.transport.is_closing():
            self.other.transport.resume_reading()

    def eof_received(self):
        return False

    def connection_lost(self, error):
        self.pipe.lost(self)


class Pipe:
    """One connection through a proxy."""

    def __init__(self, proxy):
        self.proxy = proxy
        self.near = Side(self, UP)
        self.far = Side(self, DOWN)
        self.is_over = False
        # Bytes were swallowed: what comes after them would make no sense.
        self.is_torn = False
        # It is open and nothing goes through any more, whatever becomes of its proxy.
        self.is_deaf = False

    def deafen(self):
        """Nothing goes through any more, and nobody is told."""
        self.is_deaf = self.is_torn = True

    def made(self, side):
        if side is self.far:
            self.near.other, self.far.other = self.far, self.near
            self.near.release()
        else:
            self.proxy.pipes.add(self)
            self.task = asyncio.get_running_loop().create_task(self._dial())

    async def _dial(self):
        loop = asyncio.get_running_loop()
        dialed = self.proxy.place.socket()
        try:
            await loop.sock_connect(dialed, self.proxy.aim())
            await loop.create_connection(lambda: self.far, sock=dialed)
        except OSError:
            # A transport closes its socket itself: the number would be another's meanwhile.
            if self.far.transport is None:
                dialed.close()
            self.cut()
        else:
            if self.is_over:
                self.far.transport.abort()

    def lost(self, side):
        """One end went: so does the other, after it got what was under way, unless the way there is blocked."""
        self.is_over = True
        self.proxy.pipes.discard(self)
        other = self.far if side is self.near else self.near
        if other.transport is None or other.transport.is_closing():
            return
        way = self.proxy.ways[side.way]
        if way.is_swallowed or way.is_held or self.is_deaf:
            # Nobody tells the other end: the end of a connection is not seen through a hole either.
            self.proxy.orphans.append(other.transport)
        else:
            for data in side.waiting + side.late:
                other.transport.write(data)
            side.waiting, side.late = [], []
            other.transport.close()

    def cut(self):
        """Ends both sides at once."""
        self.is_over = True
        self.proxy.pipes.discard(self)
        for side in (self.near, self.far):
            if side.transport:
                side.transport.abort()


class Proxy:
    """Listens in front of one address for one neighbour, at the place where that one is."""

    def __init__(self, name, target, may_repeat=False, place=LOCAL):
        self.name = name
        self.target = target
        self.place = place
        self.ways = (Way(), Way())
        self.pipes = set()
        self.orphans = []
        self.server = None
        # The bytes are a ZeroMQ link's, so that messages may go twice.
        self.may_repeat = may_repeat
        self.cuts = 0
        self.repeated = 0

    def aim(self):
        """Where the next connection leads to."""
        return self.target

    async def listen(self, port):
        self.port = port
        listener = self.place.listener(port)
        self.server = await asyncio.get_running_loop().create_server(lambda: Pipe(self).near, sock=listener)
        return self

    def cut(self):
        """Ends every connection at once; new ones are welcome."""
        self.cuts += len(self.pipes)
        for pipe in list(self.pipes):
            pipe.cut()

    def heal(self):
        """Is a good proxy again. Connections that lost bytes end; what was held back goes on."""
        for way in self.ways:
            way.clear()
        for transport in self.orphans:
            transport.abort()
        self.orphans.clear()
        for pipe in list(self.pipes):
            if pipe.is_torn:
                pipe.cut()
            else:
                pipe.near.release()
                pipe.far.release()

    def close(self):
        if self.server:
            self.server.close()
        self.cut()
