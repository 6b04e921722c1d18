"""What operators see of a running pipeline in a terminal: rooms, tail and top."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import threading
import time

import pytest

import pipeline as pipelines
from app import burst
from pipeline import eventually


class Tail:
    """`touchsync tail --json`, and the lines that it has printed."""

    def __init__(self, pipeline, room, *arguments):
        self.process = subprocess.Popen(
            [str(pipelines.PROGRAMS / "touchsync"), "tail", "--json", "--room", room, "--data", str(pipeline.data), *arguments],
            env=pipeline.environment, stdout=subprocess.PIPE, text=True)
        self.lines = []
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(json.loads(line))

    def of(self, kind):
        return [line for line in list(self.lines) if line["type"] == kind]

    @property
    def seqs(self):
        return [line["seq"] for line in self.of("update")]

    def stop(self, how=signal.SIGINT):
        self.process.send_signal(how)
        code = self.process.wait(10)
        self.reader.join()
        return code


def rooms(pipeline, *arguments):
    return json.loads(pipeline.touchsync("rooms", "--json", "--data", str(pipeline.data), *arguments).stdout)


def test_rooms_with_their_people_and_rates(single, two, room, note):
    ada, bob = two
    other = f"{room}-large"
    bob.join(other)
    for number in range(3):
        bob.ok("element:create", {"roomId": other, "element": {"type": "note", "id": f"n-{number}"}})
    burst((ada, [{"roomId": room, "elementId": "note-1", "transform": {"rotation": step}} for step in range(40)]))
    listed = rooms(single)
    assert not listed["silent"]
    mine = next(entry for entry in listed["rooms"] if entry["roomId"] == room)
    assert (mine["members"], mine["connections"], mine["seq"], mine["elements"]) == (2, 2, 1, 1)
    assert mine["fanout"] == "fanout-1" and mine["bytes"] > 0 and mine["previewsPerSecond"] > 0
    order = [entry["roomId"] for entry in rooms(single, "--sort", "seq")["rooms"]]
    assert order.index(other) < order.index(room)

    one = rooms(single, other)
    assert one["people"] == [{"userId": "bob", "name": "Bob", "connections": 1}]
    assert [update["seq"] for update in one["updates"]] == [1, 2, 3]
    assert {update["event"] for update in one["updates"]} == {"element:created"}
    assert all(abs(update["at"] / 1000 - time.time()) < 60 for update in one["updates"])
    # By the fan-out's address too, and as text.
    http = single.processes("fanout")[0]["http"]
    asked = single.touchsync("rooms", room, "--fanout", http, check=False)
    assert asked.returncode == 1 and "operator's token" in asked.stderr
    token = (single.data / "operator-token").read_text().strip()
    text = single.touchsync("rooms", room, "--fanout", http, "--operator-token", token).stdout
    assert "2 members" in text and "Ada" in text and "\x1b" not in text
    missing = single.touchsync("rooms", "nobody-was-here", "--data", str(single.data), check=False)
    assert missing.returncode == 1 and "nobody-was-here" in missing.stderr and not missing.stdout
    silent = single.touchsync("rooms", "--fanout", "http://127.0.0.1:1", check=False)
    assert silent.returncode == 1 and "connection refused" in silent.stderr
    # An address of apps is --url in every command.
    mistaken = single.touchsync("rooms", "--url", http, check=False)
    assert mistaken.returncode != 0 and "--fanout" in mistaken.stderr


def test_stored_rooms_are_listed_by_name_in_pages(beside, apps):
    with beside() as pipeline:
        app = apps(pipeline.url, "ada")
        names = [f"room-{letter}" for letter in "cabed"]
        for count, name in enumerate(names, 1):
            app.join(name)
            for number in range(count):
                app.ok("element:create", {"roomId": name, "element": {"type": "note", "id": f"n-{number}"}})
        app.ok("element:delete", {"roomId": "room-b", "elementId": "n-0"})

        def page(*arguments):
            done = pipeline.touchsync("rooms", "--stored", "--json", "--data", str(pipeline.data), *arguments)
            return json.loads(done.stdout)

        whole = page()
        assert [entry["roomId"] for entry in whole["rooms"]] == sorted(names) and whole["next"] is None
        entry = whole["rooms"][1]
        assert (entry["roomId"], entry["seq"], entry["elements"]) == ("room-b", 4, 2) and entry["bytes"] > 2 * 512
        assert abs(entry["changedAt"] / 1000 - time.time()) < 60
        first = page("--limit", "2")
        assert [entry["roomId"] for entry in first["rooms"]] == ["room-a", "room-b"] and first["next"] == "room-b"
        assert [entry["roomId"] for entry in page("--limit", "9", "--after", "room-b")["rooms"]] == sorted(names)[2:]
        done = pipeline.touchsync("rooms", "--stored", "--limit", "2", "--data", str(pipeline.data))
        assert done.stdout.splitlines()[0].split() == ["ROOM", "SEQ", "ELEMENTS", "BYTES", "CHANGED"]
        assert "--after room-b" in done.stderr
        # Without a pipeline, by the database's address.
        by_address = pipeline.touchsync(
            "rooms", "--stored", "--json", environment={**pipeline.environment, "DATABASE_URL": pipeline.report["database"]})
        assert json.loads(by_address.stdout) == whole
    for arguments in (["--after", "r"], ["--stored", "r"], ["--stored", "--limit", "0"], ["--stored", "--sort", "seq"]):
        assert pipeline.touchsync("rooms", *arguments, check=False).returncode == 64, arguments


def test_where_the_server_is_asked_for_when_none_runs(single, tmp_path):
    for command in (["tail", "--room", "r"], ["robots", "--room", "r"]):
        done = single.touchsync(*command, "--data", str(tmp_path), check=False)
        assert done.returncode == 1 and "give --url, or --data; no pipeline runs in" in done.stderr
    done = single.touchsync("robots", "--room", "robots", "--duration", "1", "--json", "--data", str(single.data))
    assert json.loads(done.stdout.splitlines()[-1])["applied"] > 0


def test_a_tail_goes_on_over_a_restart_of_the_gateway(single, apps, room):
    ada = apps(single.url, "ada", reconnects=True)
    ada.join(room)
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "a"}})
    tail = Tail(single, room)
    try:
        eventually("the tail is in the room", lambda: tail.of("joined"))
        assert tail.of("joined")[0]["seq"] == 1
        ada.ok("element:transform", {"roomId": room, "elementId": "a", "positionX": 30, "transform": {"rotation": 45}})
        eventually("the first update", lambda: tail.seqs == [2])
        update = tail.of("update")[0]
        assert (update["userId"], update["event"]) == ("ada", "element:transformed")
        assert update["changes"] == [{"elementId": "a", "what": "moved by +30, 0, rotated to 45°"}]
        single.wait_restarted(single.kill("gateway"))
        ben = apps(single.url, "ben")
        ben.join(room)
        for x in (40, 50):
            ben.ok("element:transform", {"roomId": room, "elementId": "a", "positionX": x})
        eventually("all updates", lambda: tail.seqs == [2, 3, 4], within=30)
        eventually("it is connected", lambda: tail.of("connected"))
        assert tail.of("disconnected") and not tail.of("lost")
    finally:
        code = tail.stop()
    assert code == 0


def test_a_tail_shows_previews_when_asked(single, two, room, note):
    ada, _ = two
    tail = Tail(single, room, "--previews")
    try:
        eventually("the tail is in the room", lambda: tail.of("joined"))
        ada.send("element:transforming", {"roomId": room, "elementId": "note-1", "transform": {"rotation": 12}})
        eventually("the preview", lambda: tail.of("preview"))
        assert tail.of("preview")[0].items() >= {"elementId": "note-1", "userId": "ada", "rotation": 12}.items()
    finally:
        assert tail.stop(signal.SIGTERM) == 0


class Screen:
    """A program on a terminal of its own, and everything that it wrote there."""

    def __init__(self, pipeline, *arguments, rows=24, columns=80):
        self.main, self.terminal = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.terminal)
        self.process = subprocess.Popen(
            [str(pipelines.PROGRAMS / "touchsync"), *arguments], env={**pipeline.environment, "TERM": "xterm"},
            stdin=self.terminal, stdout=self.terminal, stderr=self.terminal, start_new_session=True)
        self.output = b""

    def resize(self, rows, columns):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        while select.select([self.main], [], [], 0.05)[0]:
            self.output += os.read(self.main, 65536)
        return self.output.decode(errors="replace")

    def shows(self, text, since=0):
        eventually(f"the screen shows {text}", lambda: text in self.read()[since:], within=15)

    def press(self, keys):
        mark = len(self.read())
        os.write(self.main, keys.encode())
        return mark

    def end(self, within=10):
        deadline = time.monotonic() + within
        while self.process.poll() is None and time.monotonic() < deadline:
            self.read()
        code = self.process.wait(1)
        assert termios.tcgetattr(self.terminal) == self.before
        self.read()
        os.close(self.main)
        os.close(self.terminal)
        return code


ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"


def test_top_on_a_terminal(single, two, room, note):
    screen = Screen(single, "top", "--data", str(single.data))
    screen.shows("4 of 4 ready")
    screen.shows("committer-1")
    assert ENTER in screen.read() and "\x1b[" in screen.read()
    mark = screen.press("f")
    screen.shows("JOINS", since=mark)
    mark = screen.press("r")
    screen.shows("PREVIEWS/S", since=mark)
    screen.shows(room[:30], since=mark)
    mark = len(screen.read())
    screen.resize(30, 120)
    screen.shows("\x1b[30;1H", since=mark)
    screen.press("q")
    assert screen.end() == 0
    assert screen.output.decode().rindex(LEAVE) > screen.output.decode().rindex(ENTER)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_top_gives_the_terminal_back_when_it_is_stopped(single, how):
    screen = Screen(single, "top", "--data", str(single.data))
    screen.shows("4 of 4 ready")
    screen.process.send_signal(how)
    assert screen.end() == 0
    assert LEAVE in screen.output.decode()


def test_top_without_a_terminal(single):
    text = single.touchsync("top", "--data", str(single.data)).stdout
    assert "4 of 4 ready" in text and "gateway-1" in text and "\x1b" not in text
    overview = json.loads(single.touchsync("top", "--once", "--json", "--data", str(single.data)).stdout)
    assert [stage["stage"] for stage in overview["stages"]] == ["gateway", "coalescer", "committer", "fanout"]
    assert all(instance["condition"] == "ready" for stage in overview["stages"] for instance in stage["instances"])
