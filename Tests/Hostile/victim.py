"""A well-behaved app on a machine of its own, while strangers attack: commits, previews, a witness and newcomers.

    victim.py < JSON {"host", "port", "token", "witness", "room"}, then the lines "clean" and "stop"

Prints a line of JSON for each thing that happened: a commit acknowledged (`commit`, ms), a newcomer's visit (`visit`,
ms, null when it failed), with `due`, the moment at which it was to begin, by the monotonic clock that all processes
share. "clean" deletes what others left in the room, "stop" ends with a summary.
"""

import asyncio
import collections
import json
import os
import sys
import time

from lines import TEXT, PING, PONG, CLOSE, frame, upgrade

COMMITS_PER_SECOND = 20
PREVIEWS_PER_SECOND = 30
# Commits without a result at the same time; below the server's `unacknowledged-commits`, 32.
IN_FLIGHT = 24
# How long a newcomer tries to get into the room, seconds.
VISIT = 5.0


def tell(**what):
    print(json.dumps(what), flush=True)


class Gone(Exception):
    """The server ended the connection."""


class App:
    """One Socket.IO connection over WebSocket that answers every ping."""

    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer
        self.answers = {}
        self.number = 0
        # Called with name and data; None when nobody wants to know.
        self.on_event = None
        self.listener = None
        self.ended = asyncio.get_running_loop().create_future()

    @classmethod
    async def open(cls, host, port, token):
        try:
            reader, writer = await asyncio.open_connection(host, port)
        except OSError as error:
            raise Gone(str(error)) from None
        app = cls(reader, writer)
        try:
            writer.write(upgrade())
            status = (await reader.readline()).split(b" ")
            if status[1:2] != [b"101"]:
                raise Gone(f"status {status[1:2]}")
            await reader.readuntil(b"\r\n\r\n")
            await app._packet(b"0")
            app._send(b"40" + json.dumps({"token": token}).encode())
            await app._packet(b"40")
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            app.close()
            raise Gone(str(error)) from None
        except BaseException:
            app.close()
            raise
        app.listener = asyncio.create_task(app._listen())
        return app

    def close(self):
        if self.listener:
            self.listener.cancel()
        self.writer.close()

    def emit(self, name, data):
        self._send(b"42" + json.dumps([name, data]).encode())

    async def call(self, name, data):
        """The answer to an event."""
        self.number += 1
        answer = self.answers[self.number] = asyncio.get_running_loop().create_future()
        self._send(b"42%d" % self.number + json.dumps([name, data]).encode())
        return await answer

    def _send(self, payload, opcode=TEXT):
        self.writer.write(frame(payload, opcode))

    async def _packet(self, prefix):
        """The next packet, which must begin so."""
        text = await self._text()
        if not text.startswith(prefix):
            raise Gone(f"{text[:100]} instead of {prefix}")

    async def _text(self):
        """The next message; pings are answered meanwhile."""
        while True:
            first, second = await self.reader.readexactly(2)
            size = second & 127
            if size > 125:
                size = int.from_bytes(await self.reader.readexactly(2 if size == 126 else 8), "big")
            payload = await self.reader.readexactly(size)
            if first & 15 == PING:
                self._send(payload, PONG)
            elif first & 15 == CLOSE:
                raise Gone(f"closed with {int.from_bytes(payload[:2], 'big')}")
            elif payload == b"2":
                self._send(b"3")
            else:
                return payload

    async def _listen(self):
        try:
            while True:
                text = await self._text()
                if text.startswith(b"43"):
                    start = text.index(b"[")
                    answer = self.answers.pop(int(text[2:start]), None)
                    if answer and not answer.done():
                        answer.set_result(json.loads(text[start:])[0])
                elif text.startswith(b"42") and self.on_event:
                    self.on_event(*json.loads(text[2:])[:2])
                elif text[:2] in (b"41", b"44") or text == b"1":
                    raise Gone(text[:100].decode())
        except (Gone, OSError, asyncio.IncompleteReadError) as error:
            self._end(error)

    def _end(self, error):
        if not self.ended.done():
            self.ended.set_result(str(error) or type(error).__name__)
        for answer in self.answers.values():
            if not answer.done():
                answer.set_exception(Gone(str(error)))


class Witness:
    """Another member of the room, who must see every acknowledged commit, in order and without a gap."""

    def __init__(self, app, room, joined):
        self.app = app
        self.room = room
        self.epoch = joined["epoch"]
        self.seq = joined["seq"]
        self.is_joining = False
        self.faults = []
        self.previews = 0
        self.resyncs = 0
        app.on_event = self.received

    def received(self, name, data):
        if name in ("element:transforming", "elements:transforming"):
            self.previews += 1
        elif name == "room:resync":
            self.resyncs += 1
            if not self.is_joining:
                self.is_joining = True
                self.joining = asyncio.create_task(self.join_again(data["from"] - 1))
        elif "seq" in data and name != "gesture:ended" and not self.is_joining:
            self.follow(data["seq"])

    def follow(self, seq):
        if seq != self.seq + 1:
            self.faults.append(f"update {seq} behind {self.seq}")
        self.seq = seq

    async def join_again(self, seq):
        """As the server asked: what was missed, or the whole room."""
        try:
            resume = {"epoch": self.epoch, "seq": seq}
            while not (answer := await self.app.call("room:join", {"roomId": self.room, "resume": resume}))["ok"]:
                await asyncio.sleep(answer["error"].get("retryAfterMs", 100) / 1000)
        except Gone:
            return
        if answer["recovered"]:
            self.seq = seq
            for update in answer["updates"]:
                self.follow(update["seq"])
        self.seq = answer["seq"]
        self.is_joining = False


class Victim:
    """The app, its witness and the newcomers."""

    def __init__(self, place):
        self.place = place
        self.room = place["room"]
        self.element = f"victim-{os.urandom(4).hex()}"
        self.due = collections.deque()
        self.in_flight = 0
        self.is_stopping = False
        self.n = 0
        self.last_seq = 0
        self.counts = collections.Counter()
        self.faults = []
        # Commits and newcomers' visits under way; asyncio itself keeps no task alive.
        self.moves = set()
        self.visiting = set()

    async def open(self, token):
        return await App.open(self.place["host"], self.place["port"], token)

    async def start(self):
        witness = await self.open(self.place["witness"])
        joined = await witness.call("room:join", {"roomId": self.room})
        self.witness = Witness(witness, self.room, joined)
        self.witness_app = witness
        self.app = await self.open(self.place["token"])
        joined = await self.app.call("room:join", {"roomId": self.room})
        self.session = joined["session"]
        self.n = joined["n"] - 1 if joined.get("n") else 0
        await self.commit("element:create", {"element": {"type": "note", "id": self.element}})
        tell(ready=True)

    async def commit(self, event, payload):
        """Sends a numbered commit until it is applied; refusals that ask for it are retried."""
        self.n += 1
        payload = {"roomId": self.room, **payload, "n": self.n}
        while True:
            answer = await self.app.call(event, payload)
            if answer["ok"]:
                self.last_seq = max(self.last_seq, answer["seq"])
                return answer
            error = answer["error"]
            self.counts[error["code"]] += 1
            if error["code"] not in ("rate_limited", "busy", "unavailable", "gap"):
                raise Gone(f"refused: {error}")
            await asyncio.sleep(error.get("retryAfterMs", 100) / 1000)

    # What it does all the time

    async def schedule(self):
        """A commit is due at a fixed rate, whether or not earlier ones were answered."""
        start = time.monotonic()
        for number in range(sys.maxsize):
            if self.is_stopping:
                return
            self.due.append(start + number / COMMITS_PER_SECOND)
            await asyncio.sleep(max(0, self.due[-1] - time.monotonic()))
            while self.due and self.in_flight < IN_FLIGHT and self.due[0] <= time.monotonic():
                self.in_flight += 1
                move = asyncio.create_task(self.move(self.due.popleft()))
                self.moves.add(move)
                move.add_done_callback(self.moves.discard)

    async def move(self, due):
        try:
            await self.commit("element:transform", {"elementId": self.element, "positionX": self.n % 1000})
            tell(commit=(time.monotonic() - due) * 1000, due=due)
            self.counts["commits"] += 1
            self.in_flight -= 1
        except Gone as error:
            self.faults.append(f"a commit was lost: {error}")

    async def preview(self):
        while not self.is_stopping:
            transform = {"rotation": time.monotonic() % 360}
            preview = {"roomId": self.room, "elementId": self.element, "transform": transform}
            self.app.emit("element:transforming", preview)
            await asyncio.sleep(1 / PREVIEWS_PER_SECOND)

    async def visits(self):
        """A newcomer each second."""
        while not self.is_stopping:
            due = time.monotonic()
            visit = asyncio.create_task(self.visit(due))
            self.visiting.add(visit)
            visit.add_done_callback(self.visiting.discard)
            await asyncio.sleep(1)

    async def visit(self, due):
        problem = "no answer"
        try:
            async with asyncio.timeout(VISIT):
                while problem := await self.try_to_visit():
                    await asyncio.sleep(0.2)
        except TimeoutError:
            pass
        tell(visit=None if problem else (time.monotonic() - due) * 1000, due=due, problem=problem)

    async def try_to_visit(self):
        """Why the newcomer did not get into the room; None when it did."""
        app = None
        try:
            app = await self.open(self.place["witness"])
            answer = await app.call("room:join", {"roomId": self.room, "parts": True})
            return None if answer["ok"] else answer["error"]["code"]
        except Gone as error:
            return str(error)
        finally:
            if app:
                app.close()

    # The end

    async def clean(self):
        """Deletes what others left in the room, as its owner would."""
        began = time.monotonic()
        app = await self.open(self.place["token"])
        elements = {}

        def received(name, data):
            if name == "room:elements":
                elements.update((element["id"], element) for element in data["elements"])
                if data["part"] == data["parts"]:
                    parts.set_result(None)

        parts = asyncio.get_running_loop().create_future()
        app.on_event = received
        try:
            answer = await app.call("room:join", {"roomId": self.room, "parts": True})
            if not answer["ok"]:
                return tell(cleaned=None, problem=f"the room cannot be joined: {answer['error']}")
            elements.update((element["id"], element) for element in answer["elements"])
            if answer.get("parts"):
                await parts
            foreign = [name for name, element in elements.items() if not name.startswith("victim-")]
            problem = await self.delete(app, foreign)
            tell(cleaned=len(foreign), ms=(time.monotonic() - began) * 1000, problem=problem)
        finally:
            app.close()

    async def delete(self, app, names):
        """Why not all of these elements could be deleted; None when they are."""
        while names:
            answer = await app.call("elements:delete", {"roomId": self.room, "elementIds": names[:200]})
            if answer["ok"]:
                gone = set(answer["elementIds"])
                names = [name for name in names[200:] if name not in gone]
            elif answer["error"]["code"] in ("rate_limited", "busy", "unavailable"):
                await asyncio.sleep(answer["error"].get("retryAfterMs", 100) / 1000)
            elif answer["error"]["code"] in ("gone", "not_found"):
                # An annotation that went with its parent in an earlier group: one by one then.
                return await self.delete_each(app, names)
            else:
                return f"refused: {answer['error']}"
        return None

    async def delete_each(self, app, names):
        for name in names:
            answer = await app.call("element:delete", {"roomId": self.room, "elementId": name})
            if not answer["ok"] and answer["error"]["code"] not in ("gone", "not_found"):
                return f"refused: {answer['error']}"
        return None

    async def stop(self):
        """Waits for what is outstanding, and says what was lost."""
        self.is_stopping = True
        end = time.monotonic() + 20
        while self.in_flight and time.monotonic() < end and not self.app.ended.done():
            await asyncio.sleep(0.02)
        while self.witness.seq < self.last_seq and time.monotonic() < end and not self.witness_app.ended.done():
            await asyncio.sleep(0.02)
        # Those that fail take no longer than they may.
        await asyncio.gather(*self.visiting)
        faults = list(dict.fromkeys(self.faults)) + self.witness.faults[:3]
        for name, app in (("the victim", self.app), ("the witness", self.witness_app)):
            if app.ended.done():
                faults.append(f"{name} was disconnected: {app.ended.result()}")
        if self.in_flight + len(self.due) > 1:
            faults.append(f"{self.in_flight + len(self.due)} commits without an answer")
        if self.witness.seq < self.last_seq:
            faults.append(f"the witness is at {self.witness.seq}, acknowledged was {self.last_seq}")
        if self.counts["commits"] == 0:
            faults.append("no commit was acknowledged")
        tell(faults=faults, counts=self.counts, previews=self.witness.previews, resyncs=self.witness.resyncs)


async def main():
    place = json.loads(sys.stdin.readline())
    victim = Victim(place)
    await victim.start()
    work = [asyncio.create_task(part) for part in (victim.schedule(), victim.preview(), victim.visits())]
    loop = asyncio.get_running_loop()
    while True:
        command = (await loop.run_in_executor(None, sys.stdin.readline)).strip()
        if command == "clean":
            try:
                async with asyncio.timeout(30):
                    await victim.clean()
            except (Gone, TimeoutError) as error:
                tell(cleaned=None, problem=str(error) or "not within 30 s")
        else:
            await victim.stop()
            break
    for part in work:
        part.cancel()
    # A reader thread may still wait for the next line.
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
