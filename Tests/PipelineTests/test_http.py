"""What is served over HTTP."""

import concurrent.futures
import json
import socket

import pytest
import requests

from pipeline import eventually
from shapes import assert_element


def get(pipeline, path, **more):
    return requests.get(pipeline.url + path, timeout=10, **more)


def create(pipeline, room, body, **more):
    return requests.post(f"{pipeline.url}/api/rooms/{room}/elements", timeout=10, json=body, **more)


def assert_refused(answer, status, code):
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert body["ok"] is False and body["error"]["code"] == code and body["error"]["message"], body


def test_reading_a_room(single, two, room, note):
    ada, _ = two
    ada.ok("element:transform", {"roomId": room, "elementId": "note-1", "positionX": 5})
    answer = get(single, f"/api/rooms/{room}")
    assert answer.status_code == 200 and answer.headers["Content-Type"].startswith("application/json")
    body = answer.json()
    assert body["roomId"] == room and body["seq"] == 2 and body["epoch"], body
    assert len(body["elements"]) == 1
    assert_element(body["elements"][0], id="note-1", positionX=5)


def test_a_room_that_was_never_used_is_not_there(single, apps, room):
    assert_refused(get(single, f"/api/rooms/{room}"), 404, "not_found")
    # Being in it does not make it.
    apps(single.url, "ada").join(room)
    assert_refused(get(single, f"/api/rooms/{room}"), 404, "not_found")


@pytest.mark.parametrize("room", ["a%20b", "x" * 65, "%00", "a%2Fb"])
def test_bad_rooms(single, room):
    assert_refused(get(single, f"/api/rooms/{room}"), 400, "invalid")
    assert_refused(create(single, room, {"type": "note"}), 400, "invalid")


def test_creating(single, two, room):
    ada, bob = two
    answer = create(single, room, {"type": "photo", "id": "p", "width": 200, "height": 100, "scaleX": 99, "own": [1]})
    assert answer.status_code == 201, answer.text
    body = answer.json()
    assert body["ok"] is True and body["seq"] == 1
    assert_element(body["element"], id="p", type="photo", scaleX=5, scaleY=5, own=[1])
    assert {entry["field"] for entry in body["adjusted"]} >= {"scaleX"}
    for app in (ada, bob):
        created = app.wait("element:created")
        assert created["id"] == "p" and created["seq"] == 1 and created["roomId"] == room and "n" not in created
    eventually("the room shows it", lambda: get(single, f"/api/rooms/{room}").json().get("seq") == 1)
    assert get(single, f"/api/rooms/{room}").json()["elements"][0] == body["element"]


def test_creating_several(single, two, room):
    ada, bob = two
    elements = [{"type": "photo", "id": "p", "scaleX": 99}] + [{"type": "note", "id": f"n{i}"} for i in range(499)]
    answer = create(single, room, {"elements": elements})
    assert answer.status_code == 201, answer.text
    body = answer.json()
    assert body.keys() == {"ok", "seq", "elements", "adjusted"} and body["ok"] is True and body["seq"] == 1
    assert [element["id"] for element in body["elements"]] == [element["id"] for element in elements]
    assert_element(body["elements"][0], id="p", type="photo", scaleX=5, scaleY=5)
    assert {(entry["elementId"], entry["field"]) for entry in body["adjusted"]} >= {("p", "scaleX")}
    for app in (ada, bob):
        created = app.wait("elements:created")
        assert created["elements"] == body["elements"] and created["seq"] == 1
    eventually("the room shows them", lambda: get(single, f"/api/rooms/{room}").json().get("seq") == 1)
    found = get(single, f"/api/rooms/{room}").json()["elements"]
    assert sorted(element["id"] for element in found) == sorted(element["id"] for element in elements)


def test_a_user_has_rates_over_all_connections(beside, apps):
    settings = ["--user-requests-per-second", 1, "--user-request-burst", 12, "--commit-burst", 4, "--commits-per-second", 1,
                "--user-commit-burst", 6, "--user-commits-per-second", 1]
    with beside(*settings) as pipeline:
        phone, desk = (apps(pipeline.url, "ada") for _ in range(2))
        for app in (phone, desk):
            app.join("r")
        for n in range(1, 5):
            phone.ok("element:create", {"roomId": "r", "element": {"type": "note"}, "n": n})
        for n in range(1, 3):
            desk.ok("element:create", {"roomId": "r", "element": {"type": "note"}, "n": n})
        refused = desk.refused("element:create", {"roomId": "r", "element": {"type": "note"}, "n": 3}, "rate_limited")
        assert refused["retryAfterMs"] <= 1000
        ada, bob = ({"userId": user} for user in ("ada", "bob"))
        refused = create(pipeline, "r", {"type": "note"}, params=ada)
        assert_refused(refused, 429, "rate_limited")
        wait = refused.json()["error"]["retryAfterMs"]
        assert refused.headers["Retry-After"] == str(-(-wait // 1000))
        eventually("it is counted", lambda: pipeline.metrics("gateway")[
            'touchsync_gateway_user_rate_refusals_total{limit="commits"}'] > 0)
        assert create(pipeline, "r", {"type": "note"}, params=bob).status_code == 201
        statuses = [get(pipeline, "/api/rooms/r", params=bob).status_code for _ in range(13)]
        assert statuses[0] == 200 and 429 in statuses


def test_what_is_refused(single, room):
    assert create(single, room, {"type": "note", "id": "e"}).status_code == 201
    assert_refused(create(single, room, {"type": "note", "id": "e"}), 409, "conflict")
    assert_refused(create(single, room, {}), 400, "invalid")
    assert_refused(create(single, room, []), 400, "invalid")
    assert_refused(create(single, room, {"type": "note", "rotation": "x"}), 400, "invalid")
    assert_refused(create(single, room, {"type": "note", "own": "x" * 9000}), 413, "too_large")
    url = f"{single.url}/api/rooms/{room}/elements"
    assert_refused(requests.post(url, data="{", timeout=5), 400, "invalid")
    assert_refused(requests.post(url, data='{"type":"note",}', timeout=5), 400, "invalid")
    assert_refused(requests.post(url, data=b"x" * 400_000, timeout=5), 413, "too_large")
    assert_refused(requests.post(url, data=iter([b"x" * 200_000] * 2), timeout=5), 413, "too_large")
    refused = requests.post(url, data='{"type":"note","own":"\\u0000"}', timeout=5)
    assert_refused(refused, 400, "invalid")
    assert refused.json()["error"]["field"] == "element.own"
    eventually("the room shows it", lambda: get(single, f"/api/rooms/{room}").json().get("seq") == 1)
    assert get(single, f"/api/rooms/{room}").json()["seq"] == 1


def test_a_deleted_id_is_gone(single, two, room, note):
    ada, _ = two
    ada.ok("element:delete", {"roomId": room, "elementId": "note-1"})
    assert_refused(create(single, room, {"type": "note", "id": "note-1"}), 410, "gone")


def test_an_idempotency_key(single, room):
    headers = {"Idempotency-Key": f"key {room}"}
    first = create(single, room, {"type": "note"}, headers=headers)
    again = create(single, room, {"type": "note"}, headers=headers)
    assert first.status_code == again.status_code == 201
    assert again.json()["element"] == first.json()["element"] and again.json()["seq"] == first.json()["seq"]
    assert_refused(create(single, room, {"type": "text"}, headers=headers), 409, "conflict")
    other = create(single, room, {"type": "note"}, headers={"Idempotency-Key": f"key {room}2"})
    assert other.json()["seq"] == 2
    eventually("the room shows both", lambda: get(single, f"/api/rooms/{room}").json()["seq"] == 2)
    assert create(single, room, {"type": "note"}).json()["seq"] == 3


def test_nobody_learns_an_idempotency_key(single, apps, room):
    """Neither the key nor whether two requests had the same can be told from what others see."""
    ada = apps(single.url, "ada")
    ada.join(room)
    for headers in ({"Idempotency-Key": "order 7"}, {"Idempotency-Key": "order 8"}, {}):
        assert create(single, room, {"type": "note"}, headers=headers).status_code == 201
    events = [ada.wait("element:created") for _ in range(3)]
    history = eventually(
        "the history has them", lambda: (lambda entries: len(entries) == 3 and entries)(
            get(single, f"/api/rooms/{room}/history").json().get("entries", [])))
    assert {event["sid"] for event in events} == {entry["sid"] for entry in history} == {"h:"}


def test_the_same_key_many_times_at_once(single, room):
    """While the first is under way the others may be told to ask again; whoever gets an element gets the same."""
    headers = {"Idempotency-Key": room}

    def insist(_):
        for _ in range(200):
            answer = create(single, room, {"type": "note"}, headers=headers)
            if answer.status_code != 503:
                return answer
            assert answer.json()["error"]["retryAfterMs"] > 0
        return answer

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(insist, range(16)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({json.dumps(answer.json()["element"]) for answer in answers}) == 1
    assert single.assert_gapless(room) == 1


def test_the_description(single):
    answer = get(single, "/api/openapi.json")
    assert answer.status_code == 200
    document = answer.json()
    assert document["openapi"].startswith("3.")
    paths = {"/api/rooms/{roomId}", "/api/rooms/{roomId}/elements", "/api/rooms/{roomId}/history"}
    assert paths <= document["paths"].keys()
    assert "get" in document["paths"]["/api/rooms/{roomId}"]
    post = document["paths"]["/api/rooms/{roomId}/elements"]["post"]
    assert "201" in post["responses"]

    def references(value):
        if isinstance(value, dict):
            for key, entry in value.items():
                if key == "$ref":
                    yield entry
                yield from references(entry)
        elif isinstance(value, list):
            for entry in value:
                yield from references(entry)

    for reference in references(document):
        target = document
        for part in reference.removeprefix("#/").split("/"):
            target = target[part]


def test_health(single):
    for path in ("/healthz", "/readyz"):
        assert get(single, path).status_code == 200
    for process in single.ps()["processes"]:
        if process.get("http"):
            for path in ("/healthz", "/readyz"):
                answer = requests.get(process["http"] + path, timeout=5)
                assert answer.status_code == 200, (process, path, answer.text)


def test_what_is_not_health_is_the_operators(single):
    """Neither a page on a name that leads to this machine nor another user of it reads rooms, people and numbers."""
    for process in single.ps()["processes"]:
        for path in ("/metrics", "/rooms", "/nothing"):
            assert requests.get(process["http"] + path, timeout=5).status_code == 401, (process, path)
        assert single.admin(process, "/metrics").status_code == 200
        for path in ("/metrics", "/readyz"):
            rebound = {**single.operator, "Host": "rebound.example"}
            assert requests.get(process["http"] + path, headers=rebound, timeout=5).status_code == 421, (process, path)


@pytest.mark.parametrize("path", ["/nothing", "/api", "/api/rooms", "/api/rooms/r/nothing", "/../etc/passwd"])
def test_other_paths(single, path):
    assert get(single, path).status_code in (400, 404)


@pytest.mark.parametrize("path", ["/", "/healthz", "/api/openapi.json", "/api/rooms/ROOM"])
def test_head_is_get_without_the_body(single, two, room, note, path):
    path = path.replace("ROOM", room)
    eventually("the room is there", lambda: get(single, f"/api/rooms/{room}").status_code == 200)
    full, head = get(single, path), requests.head(single.url + path, timeout=10)
    assert head.status_code == full.status_code == 200 and head.content == b""
    assert head.headers["Content-Length"] == full.headers["Content-Length"]
    assert head.headers["Content-Type"] == full.headers["Content-Type"]


ALLOWED = "https://app.example.com"


@pytest.fixture(scope="module")
def guarded(beside):
    """A pipeline that only pages of one origin may use."""
    with beside("--origins", ALLOWED) as pipeline:
        yield pipeline


def test_a_forbidden_origin_neither_reads_nor_creates(guarded):
    assert create(guarded, "origins", {"type": "note"}).status_code == 201
    headers = {"Origin": "https://evil.example", "Content-Type": "text/plain"}
    url = f"{guarded.url}/api/rooms/origins"
    for answer in (
        requests.get(url, headers=headers, timeout=10), requests.head(url, headers=headers, timeout=10),
        requests.post(url + "/elements", data='{"type":"note"}', headers=headers, timeout=10),
        requests.post(url + "/elements", data=b"x" * 400_000, headers=headers, timeout=10),
        requests.options(url, headers=headers, timeout=10), get(guarded, "/api/openapi.json", headers=headers),
        get(guarded, "/api/rooms/origins/history", headers=headers), get(guarded, "/api/nothing", headers=headers),
    ):
        assert answer.status_code == 403, answer.text
        assert "Access-Control-Allow-Origin" not in answer.headers and answer.headers["Vary"] == "Origin"
        if answer.request.method != "HEAD":
            assert_refused(answer, 403, "forbidden")
    eventually("it is there", lambda: get(guarded, "/api/rooms/origins").status_code == 200)
    assert get(guarded, "/api/rooms/origins").json()["seq"] == 1
    # Health is for proxies, which ask for no page.
    assert get(guarded, "/readyz", headers=headers).status_code == 200


def test_an_allowed_origin_reads_and_creates(guarded):
    headers = {"Origin": ALLOWED}
    for answer, status in (
        (create(guarded, "allowed", {"type": "note"}, headers=headers), 201),
        (create(guarded, "allowed", {}, headers=headers), 400),
        (requests.post(f"{guarded.url}/api/rooms/r/elements", data=b"x" * 400_000, headers=headers, timeout=10), 413),
        (requests.delete(f"{guarded.url}/api/rooms/r", headers=headers, timeout=10), 405),
        (get(guarded, "/api/nothing", headers=headers), 404),
    ):
        assert answer.status_code == status, answer.text
        assert answer.headers["Access-Control-Allow-Origin"] == ALLOWED and answer.headers["Vary"] == "Origin"
    # Without an origin, and from a native client.
    for headers in ({}, {"Origin": guarded.url.replace("http", "ws")}):
        assert create(guarded, "allowed", {"type": "note"}, headers=headers).status_code == 201
    twice = f"GET /api/openapi.json HTTP/1.1\r\nHost: localhost\r\nOrigin: {ALLOWED}\r\nOrigin: {ALLOWED}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", guarded.port), 10) as connection:
        connection.sendall(twice.encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("path, methods", [("r", {"GET", "HEAD"}), ("r/history", {"GET", "HEAD"}), ("r/elements", {"POST"})])
def test_a_preflight_of_an_allowed_origin(guarded, path, methods):
    answer = requests.options(
        f"{guarded.url}/api/rooms/{path}", timeout=10,
        headers={"Origin": ALLOWED, "Access-Control-Request-Method": "POST",
                 "Access-Control-Request-Headers": "authorization,content-type,idempotency-key"})
    assert answer.status_code == 204 and answer.content == b""
    assert answer.headers["Access-Control-Allow-Origin"] == ALLOWED
    assert set(answer.headers["Access-Control-Allow-Methods"].split(", ")) == methods | {"OPTIONS"}
    fields = answer.headers["Access-Control-Allow-Headers"].lower().split(", ")
    assert {"authorization", "content-type", "idempotency-key"} <= set(fields)


def test_any_origin_may_use_a_gateway_for_all(single):
    headers = {"Origin": "https://anything.example"}
    assert get(single, "/api/openapi.json", headers=headers).headers["Access-Control-Allow-Origin"] == "*"
    preflight = requests.options(f"{single.url}/api/rooms/r/elements", headers=headers, timeout=10)
    assert preflight.status_code == 204 and preflight.headers["Access-Control-Allow-Origin"] == "*"


def test_other_methods(single, room):
    for method, path, allowed in (
        ("DELETE", f"/api/rooms/{room}", "GET, HEAD, OPTIONS"), ("POST", "/api/openapi.json", "GET, HEAD, OPTIONS"),
        ("PUT", f"/api/rooms/{room}/elements", "POST, OPTIONS"), ("HEAD", f"/api/rooms/{room}/elements", "POST, OPTIONS"),
        ("POST", "/", "GET, HEAD"), ("DELETE", "/readyz", "GET, HEAD"),
    ):
        answer = requests.request(method, single.url + path, timeout=5)
        assert answer.status_code == 405 and answer.headers["Allow"] == allowed, (method, path, answer.headers)
