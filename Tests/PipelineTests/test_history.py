"""A room's history over HTTP: who changed what, when, from what to what."""

import datetime
import re

import requests

from pipeline import eventually


def page(pipeline, room, **more):
    headers = more.pop("headers", {})
    return requests.get(f"{pipeline.url}/api/rooms/{room}/history", params=more, headers=headers, timeout=10)


def read(pipeline, room, **more):
    answer = page(pipeline, room, **more)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_every_kind_of_change(single, two, room):
    ada, bob = two
    created = ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "a"}, "n": 1})["element"]
    moved = bob.ok("element:transform", {"roomId": room, "elementId": "a", "positionX": 7})["element"]
    text = {"type": "text", "id": "t", "parentId": "a", "space": "normalized"}
    several = ada.ok("elements:create", {"roomId": room, "elements": [text, {"type": "note", "id": "b"}], "n": 2})
    updated = ada.ok("element:update", {"roomId": room, "elementId": "b", "set": {"own": "é"}, "n": 3})["element"]
    ada.ok("element:delete", {"roomId": room, "elementId": "a", "n": 4})

    history = read(single, room)
    entries = history["entries"]
    assert history["next"] is None and history["oldest"] == 1
    assert [entry["seq"] for entry in entries] == [1, 2, 3, 4, 5]
    assert [entry["event"] for entry in entries] == [
        "element:created", "element:transformed", "elements:created", "element:updated", "element:deleted"]
    assert [entry["userId"] for entry in entries] == ["ada", "bob", "ada", "ada", "ada"]
    assert [entry.get("n") for entry in entries] == [1, None, 2, 3, 4]
    assert len({entry["sid"] for entry in entries if entry["userId"] == "ada"}) == 1
    assert [entry["changes"] for entry in entries[:4]] == [
        [{"elementId": "a", "before": None, "after": created}],
        [{"elementId": "a", "before": created, "after": moved}],
        [{"elementId": element["id"], "before": None, "after": element} for element in several["elements"]],
        [{"elementId": "b", "before": several["elements"][1], "after": updated}],
    ]
    assert entries[4]["changes"] == [
        {"elementId": "a", "before": moved, "after": None},
        {"elementId": "t", "before": several["elements"][0], "after": None}]
    now = datetime.datetime.now(datetime.timezone.utc)
    for entry in entries:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", entry["at"]), entry
        at = datetime.datetime.fromisoformat(entry["at"].replace("Z", "+00:00"))
        assert abs((now - at).total_seconds()) < 60
    assert [entry["at"] for entry in entries] == sorted(entry["at"] for entry in entries)


def test_an_acknowledged_commit_is_there(single, two, room, note):
    ada, _ = two
    for x in range(1, 11):
        seq = ada.ok("element:transform", {"roomId": room, "elementId": "note-1", "positionX": x})["seq"]
        entries = read(single, room, after=seq - 1)["entries"]
        assert [entry["changes"][0]["after"]["positionX"] for entry in entries] == [x]


def test_paging(single, two, room, note):
    ada, _ = two
    for x in range(1, 60):
        ada.ok("element:transform", {"roomId": room, "elementId": "note-1", "positionX": x})
    first = read(single, room)
    assert len(first["entries"]) == 50 and first["next"] == 50
    for limit in (1, 7, 200):
        found, after, pages = [], 0, 0
        while after is not None:
            part = read(single, room, after=after, limit=limit)
            found += [entry["seq"] for entry in part["entries"]]
            after, pages = part["next"], pages + 1
        assert found == list(range(1, 61)) and pages == -(-60 // limit)
    for after in (60, 10_000):
        assert read(single, room, after=after) == {"entries": [], "next": None, "oldest": 1}


def test_while_the_fanout_is_away(beside, apps, room):
    """A read is answered whatever happens: by the fan-out that comes back, or as unavailable."""
    with beside("--deadline-ms", 2000) as pipeline:
        ada = apps(pipeline.url, "ada")
        ada.join(room)
        ada.ok("element:create", {"roomId": room, "element": {"type": "note"}})
        process = pipeline.kill("fanout")
        assert page(pipeline, room).status_code in (200, 503)
        pipeline.wait_restarted(process)
        eventually("the history is there again", lambda: page(pipeline, room).status_code == 200)
