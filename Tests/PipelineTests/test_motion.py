"""Motion from end to end: what is stored is where elements go, what moves them is data that all apps get alike."""

import time

import requests

PULSE = {"ms": 1000, "iterations": "infinite", "tracks": {"scaleX": [{"at": 0.5, "value": 2}]}}


def create(app, room, *ids):
    app.ok("elements:create", {"roomId": room, "elements": [{"type": "note", "id": id} for id in ids]})


def test_a_motion_reaches_everybody_in_their_form(two, apps, single, room):
    ada, bob = two
    create(ada, room, "a")
    still = apps(single.url, "still", auth={"motion": False})
    assert still.join(room)["elements"][0]["id"] == "a"
    old = apps(single.url, "old", auth={"roomId": room})
    sent = time.time() * 1000
    answer = ada.ok(
        "element:transform",
        {"roomId": room, "elementId": "a", "positionX": 300, "motion": {"ms": 400, "curve": "ease-out"}})
    element = answer["element"]
    assert element["positionX"] == 300
    track = element["motion"]["positionX"]
    assert track["segments"] == [{"from": 0, "to": 300, "ms": 400, "curve": "ease-out"}]
    assert abs(track["startedAt"] - sent) < 5000
    for app in (ada, bob):
        assert app.wait("element:transformed")["element"] == element
    final = {name: value for name, value in element.items() if name != "motion"}
    for app in (still, old):
        assert app.wait("element:transformed")["element"] == final
    # One that joins in flight, and one that asks for no motion of this room.
    late = apps(single.url, "late")
    assert late.join(room)["elements"] == [element]
    assert late.join(room, motion=False)["elements"] == [final]


def test_a_throw_is_caught_where_it_is_seen(two, room):
    ada, bob = two
    create(ada, room, "a", "b")
    thrown = ada.ok(
        "element:throw",
        {"roomId": room, "elementId": "a", "positionX": 10, "velocity": {"x": 800, "y": 0}, "gesture": 1})["element"]
    assert 400 < thrown["positionX"] < 420 and "decay" in thrown["motion"]["positionX"]["segments"][0]["curve"]
    assert bob.wait("element:transformed", lambda data: data["gesture"] == 1)["element"] == thrown
    caught = bob.ok("element:halt", {"roomId": room, "elementId": "a"})["element"]
    assert 10 <= caught["positionX"] < thrown["positionX"] and "motion" not in caught
    group = ada.ok(
        "elements:throw",
        {"roomId": room, "elements": [{"elementId": "a"}, {"elementId": "b"}], "velocity": {"x": 0, "y": 300}})
    assert group["elements"][0]["positionY"] == group["elements"][1]["positionY"] > 100
    assert bob.wait("elements:transformed")["elements"] == group["elements"]
    assert all("positionY" in element["motion"] for element in group["elements"])


def test_animations_are_kept_undone_and_read_over_http(two, single, room):
    ada, bob = two
    create(ada, room, "a", "b")
    answer = ada.ok(
        "elements:animate", {"roomId": room, "elements": ["a", "b"], "animation": PULSE, "staggerMs": 50, "n": 1})
    first, second = answer["elements"]
    assert set(first) == {"id", "type", "rev", "animation"} and second["animation"]["delayMs"] == 50
    assert bob.wait("elements:updated")["elements"] == answer["elements"]
    ended = ada.ok(
        "elements:transform",
        {"roomId": room, "elements": [{"elementId": "a", "transform": {"scaleX": 3}}, {"elementId": "b", "positionX": 9}]})
    assert ended["elements"][0]["animation"] is None and "animation" not in ended["elements"][1]
    # A repetition of an old number is told the same.
    again = ada.ok(
        "elements:animate", {"roomId": room, "elements": ["a", "b"], "animation": PULSE, "staggerMs": 50, "n": 1})
    assert again["duplicate"] and again["elements"] == answer["elements"]
    ada.ok("history:undo", {"roomId": room})
    stored = {e["id"]: e for e in requests.get(f"{single.url}/api/rooms/{room}", timeout=10).json()["elements"]}
    assert stored["a"]["animation"] == first["animation"] and stored["a"]["scaleX"] == 1
    created = requests.post(
        f"{single.url}/api/rooms/{room}/elements", json={"type": "note", "animation": PULSE}, timeout=10)
    assert created.status_code == 201 and created.json()["element"]["animation"]["startedAt"] > 1e12


def test_a_resumed_app_gets_what_moved_meanwhile(two, apps, single, room):
    ada, bob = two
    create(ada, room, "a", "b")
    joined = bob.join(room)
    bob.close()
    ada.ok("elements:animate", {"roomId": room, "elements": ["a", "b"], "animation": PULSE})
    group = ada.ok("elements:transform", {
        "roomId": room, "motion": {"spring": {}},
        "elements": [{"elementId": "a", "transform": {"scaleX": 3}}, {"elementId": "b", "positionX": 9}]})
    live = ada.wait("elements:transformed")
    again = apps(single.url, "bob")
    answer = again.join(room, resume={"epoch": joined["epoch"], "seq": joined["seq"]})
    assert answer["recovered"] and [update["event"] for update in answer["updates"]] == ["elements:updated", "elements:transformed"]
    assert answer["updates"][1]["data"] == live and live["elements"] == group["elements"]


def test_the_history_has_what_moves_as_it_is_stored(two, single, room):
    ada, _ = two
    create(ada, room, "a")
    animated = ada.ok("element:animate", {"roomId": room, "elementId": "a", "animation": PULSE})["element"]
    moved = ada.ok(
        "element:transform", {"roomId": room, "elementId": "a", "positionX": 300, "motion": {"ms": 400}})["element"]
    answer = requests.get(f"{single.url}/api/rooms/{room}/history", params={"after": 1}, timeout=10).json()
    first, second = (entry["changes"][0] for entry in answer["entries"])
    assert "animation" not in first["before"] and first["after"] == second["before"] == animated
    assert second["after"] == moved and moved["animation"] == animated["animation"] and "positionX" in moved["motion"]


def test_nothing_is_sent_while_it_plays(two, room):
    ada, bob = two
    create(ada, room, "a")
    ada.ok("element:animate", {"roomId": room, "elementId": "a", "animation": PULSE})
    ada.ok("element:transform", {"roomId": room, "elementId": "a", "positionX": 300, "motion": {"ms": 500}})
    bob.wait("element:transformed")
    count = len(bob.events)
    time.sleep(1.2)
    assert bob.events[count:] == []


def test_the_clock_is_told(two, room):
    ada, _ = two
    before = time.time() * 1000
    told = ada.ok("client:ping", {})["time"]
    assert before - 5 <= told <= time.time() * 1000 + 5
    assert abs(ada.join(room)["time"] - told) < 5000
