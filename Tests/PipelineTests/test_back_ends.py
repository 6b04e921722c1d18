"""What back ends do over HTTP: they change rooms and follow them."""

import contextlib
import http.client
import json
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import urllib.parse

import pytest
import requests

from pipeline import eventually

EXAMPLES = pathlib.Path(__file__).parents[2] / "Shared" / "Client" / "examples" / "python"


def commit(pipeline, room, body, key=None, **more):
    headers = {"Idempotency-Key": key} if key else {}
    return requests.post(f"{pipeline.url}/api/rooms/{room}/commits", json=body, headers=headers, timeout=15, **more)


def edit(event, **data):
    return {"event": event, "data": data}


def assert_refused(answer, status, code, field=None):
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert error["code"] == code and error.get("field") == field, error


class Stream:
    """A reader of a room's events: what it got, by kind, id and data."""

    def __init__(self, url, room, place=None, token=None, **query):
        headers = {"Last-Event-ID": place} if place else {}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
        connection.request("GET", f"/api/rooms/{room}/events?{urllib.parse.urlencode(query)}", headers=headers)
        self.socket = connection.sock
        self.answer = connection.getresponse()
        assert self.answer.status == 200, self.answer.read()
        self.events = []
        self.is_over = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        event = {}
        with contextlib.suppress(OSError, ValueError):
            for line in self.answer:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                event[name] = value
                if line == b"\n" and "data" in event:
                    self.events.append((event["event"], event["id"], json.loads(event["data"])))
                if line == b"\n":
                    event = {}
        self.is_over = True

    def wait(self, count):
        eventually(f"{count} events", lambda: len(self.events) >= count)
        return self.events[:count]

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def follow(single, room):
    """Opens streams of the room, and closes them."""
    made = []

    def open_one(*arguments, url=None, of=None, **more):
        stream = Stream(url or single.url, of or room, *arguments, **more)
        made.append(stream)
        return stream

    yield open_one
    for stream in made:
        stream.close()


def test_a_back_end_makes_every_kind_of_change(single, two, room):
    ada, _ = two
    made = commit(single, room, edit("element:create", element={"id": "a", "type": "note"}))
    assert made.status_code == 200 and made.json()["seq"] == 1, made.text
    assert ada.wait("element:created")["id"] == "a"
    moved = commit(single, room, edit("element:transform", elementId="a", positionX=7, motion={"ms": 100})).json()
    assert moved["ok"] and moved["element"]["positionX"] == 7
    assert "motion" in ada.wait("element:transformed")["element"]
    for body in [
        edit("element:update", elementId="a", set={"tint": "red"}),
        edit("element:gesture", elementId="a", translation={"x": 3, "y": 0}),
        edit("element:throw", elementId="a", velocity={"x": 500, "y": 0}),
        edit("element:animate", elementId="a", animation={"ms": 500, "tracks": {"scaleX": [{"at": 1, "value": 2}]}}),
        edit("element:halt", elementId="a"),
        edit("element:delete", elementId="a"),
    ]:
        answer = commit(single, room, {**body, "data": {**body["data"], "roomId": room}})
        assert answer.status_code == 200 and answer.json()["ok"], (body, answer.text)
    assert ada.wait("element:deleted")["elementIds"] == ["a"]
    # Nobody can take back what a back end did.
    assert ada.ok("history:undo", {"roomId": room, "n": 1})["elements"] == []


def test_several_commits_stop_at_the_first_refusal(single, room):
    create = [edit("element:create", element={"id": name, "type": "note"}) for name in "abc"]
    answer = commit(single, room, {"commits": create})
    assert answer.status_code == 200 and answer.json()["ok"], answer.text
    assert [result["seq"] for result in answer.json()["results"]] == [1, 2, 3]
    wrong = [edit("element:delete", elementId="a"), edit("element:delete", elementId="nobody"), edit("element:delete", elementId="b")]
    answer = commit(single, room, {"commits": wrong})
    body = answer.json()
    assert answer.status_code == 207 and not body["ok"] and [result["ok"] for result in body["results"]] == [True, False]
    assert body["results"][1]["error"]["code"] == "not_found"
    left = requests.get(f"{single.url}/api/rooms/{room}", timeout=5).json()["elements"]
    assert sorted(element["id"] for element in left) == ["b", "c"]


def test_a_key_makes_a_request_safe_to_repeat(single, room):
    body = {"commits": [edit("element:create", element={"id": name, "type": "note"}) for name in "ab"]}
    first, again = (commit(single, room, body, key="monday").json() for _ in range(2))
    assert first["ok"] and all(result["duplicate"] for result in again["results"])
    assert [result["seq"] for result in first["results"]] == [result["seq"] for result in again["results"]] == [1, 2]
    # What was cut off goes on where it was.
    longer = {"commits": body["commits"] + [edit("element:delete", elementId="a")]}
    assert [result["seq"] for result in commit(single, room, longer, key="monday").json()["results"]] == [1, 2, 3]
    other = {"commits": [edit("element:create", element={"id": "z", "type": "note"})]}
    answer = commit(single, room, other, key="monday")
    assert answer.status_code == 207 and answer.json()["results"][0]["error"]["code"] == "conflict"
    # Keys are a user's own.
    assert commit(single, room, other, key="monday", params={"userId": "bob"}).status_code == 200


def test_wrong_commits(single, room):
    assert_refused(commit(single, room, edit("element:levitate", elementId="a")), 400, "unknown_event", "event")
    assert_refused(commit(single, room, edit("history:undo")), 400, "invalid", "event")
    assert_refused(commit(single, room, edit("room:join")), 400, "invalid", "event")
    assert_refused(commit(single, room, edit("element:delete", elementId="a", roomId="other")), 400, "invalid", "roomId")
    assert_refused(commit(single, room, edit("element:transform", elementId="a", positionX="x")), 400, "invalid", "positionX")
    assert_refused(commit(single, room, {"commits": []}), 400, "invalid", "commits")
    assert_refused(commit(single, room, {"commits": [edit("element:delete", elementId="a")] * 101}), 413, "too_large", "commits")
    assert_refused(commit(single, room, edit("element:delete", elementId="nobody")), 404, "not_found", "elementId")
    assert_refused(commit(single, "a%20b", edit("element:delete", elementId="a")), 400, "invalid", "roomId")
    url = f"{single.url}/api/rooms/{room}/commits"
    assert requests.get(url, timeout=5).status_code == 405
    assert requests.post(url, data="{", timeout=5).status_code == 400


def test_rights(guarded, room):
    def bearer(right):
        return {"Authorization": f"Bearer {guarded.token('eve', [room], right=right)}"}

    def post(right):
        body = edit("element:create", element={"type": "note"})
        return requests.post(f"{guarded.url}/api/rooms/{room}/commits", json=body, headers=bearer(right), timeout=10)

    def read(headers, of=room):
        with requests.get(f"{guarded.url}/api/rooms/{of}/events", headers=headers, stream=True, timeout=10) as answer:
            return answer.status_code

    assert post("commit").status_code == 200
    assert post("preview").status_code == 403
    assert read(bearer("view")) == 200
    assert read(bearer("view"), of="elsewhere") == 403
    assert read({}) == 401


def test_a_stream_begins_with_the_room_and_goes_on(single, two, room, note, follow):
    ada, _ = two
    stream = follow()
    assert stream.answer.headers["Content-Type"] == "text/event-stream"
    [(event, place, data)] = stream.wait(1)
    assert event == "room:reset" and data["roomId"] == room and [e["id"] for e in data["elements"]] == ["note-1"]
    assert place == f"{data['epoch']}:{data['seq']}"
    # Previews and people are not stored, and not in it.
    ada.send("element:transforming", {"roomId": room, "elementId": "note-1", "positionX": 1})
    ada.ok("element:transform", {"roomId": room, "elementId": "note-1", "positionX": 5})
    ada.ok("element:delete", {"roomId": room, "elementId": "note-1"})
    (event, place, data), (last, _, _) = stream.wait(3)[1:]
    assert event == "element:transformed" and data["element"]["positionX"] == 5 and last == "element:deleted"
    assert place.endswith(f":{data['seq']}")
    # From a place on: exactly what came behind it.
    later = follow(place)
    assert [event for event, _, _ in later.wait(1)] == ["element:deleted"]
    assert [event for event, _, _ in follow(after=place).wait(1)] == ["element:deleted"]
    # A place of another history is of no use.
    assert [event for event, _, _ in follow("other:7").wait(1)] == ["room:reset"]


def test_line_breaks_between_values_end_no_event(single, room, follow):
    def post(path, body):
        answer = requests.post(f"{single.url}/api/rooms/{room}/{path}", data=body, timeout=5)
        assert answer.ok and answer.json()["ok"], answer.text

    post("elements", '{"type": "note", "id": "a", "own": [1,\r\n2]}')
    stream = follow()
    assert stream.wait(1)[0][2]["elements"][0]["own"] == [1, 2]
    post("commits", '{"event": "element:update", "data": {"elementId": "a", "set": {"own": {"deep":\n\n3}}}}')
    assert stream.wait(2)[1][2]["element"]["own"] == {"deep": 3}


def test_nobody_sees_who_follows(single, apps, room, follow):
    ada = apps(single.url, "ada")
    ada.join(room)
    follow(userId="robot").wait(1)
    bob = apps(single.url, "bob")
    assert {member["userId"] for member in bob.join(room)["members"]} == {"ada", "bob"}
    assert ada.wait("member:joined")["userId"] == "bob"
    # Somebody who is there, too, has one connection.
    follow(userId="ada").wait(1)
    [member] = [member for member in bob.join(room)["members"] if member["userId"] == "ada"]
    assert len(member["connections"]) == 1
    ada.close()
    assert bob.wait("member:left")["userId"] == "ada"


@pytest.mark.parametrize("place", ["x", ":1", "e:", "e:-1", "e:1.5", "e:" + "9" * 30])
def test_a_wrong_place(single, room, place):
    answer = requests.get(f"{single.url}/api/rooms/{room}/events", params={"after": place}, timeout=5)
    assert_refused(answer, 400, "invalid", "after")


def test_the_end_of_a_token_ends_its_stream(guarded, room):
    stream = Stream(guarded.url, room, token=guarded.token("eve", [room], ttl=2))
    stream.wait(1)
    eventually("it is over", lambda: stream.is_over, within=10)


def test_a_reader_that_does_not_read_is_ended(beside, room):
    """What waits for it is bounded, beside what the kernel takes: some megabytes."""
    rates = ["--user-commits-per-second", 10_000, "--user-commit-burst", 10_000]
    with beside(*rates, "--max-buffered-bytes", 200_000) as pipeline:
        def readers():
            return pipeline.metrics("gateway").get("touchsync_gateway_connections")

        commit(pipeline, room, edit("element:create", element={"id": "a", "type": "note"}))
        host, port = pipeline.url.removeprefix("http://").split(":")
        with socket.socket() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect((host, int(port)))
            slow.sendall(f"GET /api/rooms/{room}/events HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
            slow.settimeout(20)
            assert slow.recv(12) == b"HTTP/1.1 200"
            eventually("it is there", lambda: readers() == 1)
            for turn in range(200):
                contents = [f"{turn}-{index}".ljust(8000, ".") for index in range(30)]
                body = {"commits": [edit("element:update", elementId="a", set={"content": text}) for text in contents]}
                assert commit(pipeline, room, body).json()["ok"]
                if readers() == 0:
                    break
            else:
                pytest.fail("it was never ended")
            with contextlib.suppress(ConnectionError):
                while slow.recv(65_536):
                    pass


def test_a_gateway_that_stops_ends_its_streams(beside, room):
    with beside() as pipeline:
        stream = Stream(pipeline.url, room)
        stream.wait(1)
        pipeline.kill("gateway", how=signal.SIGTERM)
        eventually("it is over", lambda: stream.is_over)


def test_the_example_follows_a_room_through_a_gateways_death(beside, apps, room):
    """It greets each note exactly once, whatever ends meanwhile."""
    with beside() as pipeline:
        url = f"{pipeline.url}/api/rooms/{room}"
        ada = apps(pipeline.url, "ada")
        ada.join(room)
        robot = subprocess.Popen(
            [sys.executable, EXAMPLES / "greeter.py", url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            ada.ok("element:create", {"roomId": room, "element": {"id": "one", "type": "note"}, "n": 1})
            assert "Hello, ada!" in robot.stdout.readline()
            pipeline.wait_restarted(pipeline.kill("gateway"))
            bob = apps(pipeline.url, "bob")
            bob.join(room)
            for n in range(1, 4):
                bob.ok("element:create", {"roomId": room, "element": {"id": f"bob-{n}", "type": "note"}, "n": n})
            for _ in range(3):
                assert "Hello, bob!" in robot.stdout.readline()
            elements = requests.get(url, timeout=5).json()["elements"]
            assert sorted(e["content"] for e in elements if "content" in e) == ["Hello, ada!"] + ["Hello, bob!"] * 3
        finally:
            robot.kill()
            robot.communicate()
