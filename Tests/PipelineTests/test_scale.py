"""Two of each daemon are one service."""

import concurrent.futures
import contextlib
import json

import requests

from app import App, burst, fence
from pipeline import eventually
from shapes import assert_preview


def test_one_room_over_two_gateways(double, apps, room):
    ada, bob = apps(double.urls[0], "ada"), apps(double.urls[1], "bob")
    ada.join(room)
    assert {member["userId"] for member in bob.join(room)["members"]} == {"ada", "bob"}
    assert ada.wait("member:joined")["userId"] == "bob"
    bob.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "e"}})
    assert ada.wait("element:created")["userId"] == "bob"
    ada.send("element:transforming", {"roomId": room, "elementId": "e", "positionX": 3})
    assert_preview(bob.wait("element:transforming"), ["positionX"])
    seq = ada.ok("element:transform", {"roomId": room, "elementId": "e", "positionX": 4})["seq"]
    assert bob.wait_seq(seq).data["element"]["positionX"] == 4
    bob.close()
    assert ada.wait("member:left")["userId"] == "bob"


def test_a_polling_session_is_known_to_its_gateway_only(double):
    """Its id tells proxies where it is. At another gateway it is unknown, which that one counts; its own one goes on."""
    path = "/socket.io/?EIO=4&transport=polling"

    def foreign():
        name = "touchsync_gateway_foreign_sessions_total"
        return [double.metrics("gateway", index)[name] for index in range(2)]

    sid = json.loads(requests.get(double.urls[0] + path, timeout=5).text[1:])["sid"]
    name, dot, rest = sid.partition(".")
    assert (name, dot, len(rest)) == ("gateway-1", ".", 20)
    assert requests.post(f"{double.urls[0]}{path}&sid={sid}", "40", timeout=5).text == "ok"
    before = foreign()
    for by in (requests.get, requests.post):
        answer = by(f"{double.urls[1]}{path}&sid={sid}", timeout=5)
        assert answer.status_code == 400 and answer.json() == {"code": 1, "message": "Session ID unknown"}
    # One that its gateway has forgotten, and what is no id at all.
    for unknown in (f"gateway-2.{rest}", "gateway-1.x", rest, "x"):
        assert requests.get(f"{double.urls[1]}{path}&sid={unknown}", timeout=5).status_code == 400
    eventually("they are counted", lambda: foreign() == [before[0], before[1] + 3])
    assert requests.get(f"{double.urls[0]}{path}&sid={sid}", timeout=5).text.startswith("40{")


def test_a_session_moves_between_gateways(double, apps, room):
    first = apps(double.urls[0], "ada")
    joined = first.join(room)
    first.ok("element:create", {"roomId": room, "n": 1, "element": {"type": "note", "id": "e"}})
    second = apps(double.urls[1], "ada")
    assert second.join(room, session=joined["session"])["n"] == 1
    second.ok("element:transform", {"roomId": room, "n": 2, "elementId": "e", "positionX": 2})
    # The gateway that has lost it hears of it.
    first.refused("element:transform", {"roomId": room, "n": 3, "elementId": "e", "positionX": 3}, "session_expired")
    third = first.join(room, session=joined["session"])
    assert third["n"] == 2
    assert first.ok("element:transform", {"roomId": room, "n": 3, "elementId": "e", "positionX": 3})["seq"] == 3


def test_the_order_is_the_same_for_everybody(double, apps, room):
    """Six people at two gateways commit at once: everyone receives all of it in one order."""
    people = [apps(double.urls[index % 2], f"user-{index}") for index in range(6)]
    for app in people:
        app.join(room)
    people[0].ok("element:create", {"roomId": room, "element": {"type": "note", "id": "e"}})
    running = [
        app.start("element:transform", {"roomId": room, "elementId": "e", "positionX": step, "n": step})
        for step in range(1, 26)
        for app in people
    ]
    # The creator's own numbers begin behind what it made without one, in a stream of its own.
    seqs = sorted(future.result(20)["seq"] for future in running)
    assert seqs == list(range(2, 152))
    for app in people:
        app.wait_seq(151)
    orders = [[(seq, event.data["userId"], event.data.get("n")) for seq, event in app.updates(room)] for app in people]
    assert all(order == orders[0] for order in orders)
    assert [seq for seq, _, _ in orders[0]] == list(range(1, 152))
    assert double.assert_gapless(room) == 151


def test_rooms_spread_over_the_daemons(double, room):
    app = App(double.urls[0], "ada").connect()
    for index in range(30):
        app.join(f"{room}-{index}")
        app.ok("element:create", {"roomId": f"{room}-{index}", "element": {"type": "note", "id": "e"}})
        app.send("element:transforming", {"roomId": f"{room}-{index}", "elementId": "e", "positionX": 1})
        app.ok("element:transform", {"roomId": f"{room}-{index}", "elementId": "e", "positionX": 2})
    counts = [("coalescer", "touchsync_coalescer_previews_received_total"), ("committer", "touchsync_committer_commits_received_total")]
    eventually(
        "both coalescers and both committers had some",
        lambda: all(double.metrics(stage, index)[count] > 0 for index in range(2) for stage, count in counts),
    )
    double.assert_shards_gapless()
    app.close()


def test_a_hole_too_long_to_fill_gives_the_whole_room(double, apps, room):
    """More than `limits.replay` updates behind: the room, not a part of what was missed; just as many: all of them."""
    writer = apps(double.urls[0], "writer")
    joined = writer.join(room)
    replay = joined["limits"]["replay"]
    writer.ok("element:create", {"roomId": room, "n": 1, "element": {"type": "note", "id": "e"}})
    n = 1
    while n <= replay:
        window = range(n + 1, min(n + 31, replay + 2))
        running = [
            writer.start("element:transform", {"roomId": room, "elementId": "e", "positionX": k, "n": k}) for k in window
        ]
        assert all(future.result(20)["ok"] for future in running)
        n = window[-1]
    reader = apps(double.urls[1], "reader")
    answer = reader.join(room, resume={"epoch": joined["epoch"], "seq": 0})
    assert answer["seq"] == replay + 1 and answer["recovered"] is False and len(answer["elements"]) == 1
    answer = reader.join(room, resume={"epoch": joined["epoch"], "seq": 1})
    assert answer["recovered"] is True and [entry["seq"] for entry in answer["updates"]] == list(range(2, replay + 2))


def test_many_people_in_one_room(double, apps, room):
    """Twenty members, five of them moving: everyone gets every publisher's last value, and nobody an own one."""
    people = [apps(double.urls[index % 2], f"user-{index}") for index in range(20)]
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        list(pool.map(lambda app: app.join(room), people))
    for index in range(5):
        people[index].ok("element:create", {"roomId": room, "element": {"type": "note", "id": f"e{index}"}})
    streams = [
        (people[index], [{"roomId": room, "elementId": f"e{index}", "positionX": step} for step in range(60)])
        for index in range(5)
    ]
    burst(*streams, hertz=60)
    for place, app in enumerate(people):
        for index in range(5):
            if index != place:
                app.wait(
                    "element:transforming", lambda data: data["elementId"] == f"e{index}" and data["positionX"] == 59
                )
    fence(room, people[5], *people[:5])
    for index in range(5):
        own = [data for data in people[index].named("element:transforming") if data["elementId"] == f"e{index}"]
        assert own == []


def test_memory_goes_back_to_the_system_after_a_burst(beside):
    """Rooms come into memory and leave it again; what they took is not kept for the next burst."""
    group = [{"type": "note", "id": f"e{index}", "content": {"text": "x" * 8000}} for index in range(24)]
    with beside("--room-idle-ms", 500) as pipeline, contextlib.ExitStack() as stack:

        def resident():
            return pipeline.metrics("fanout")["process_resident_memory_bytes"] / (1 << 20)

        def fill(number):
            app = stack.enter_context(contextlib.closing(App(pipeline.url, f"user-{number}").connect()))
            app.join(f"room-{number}")
            for part in range(12):
                elements = [element | {"id": f"{part}-{element['id']}"} for element in group]
                app.ok("elements:create", {"roomId": f"room-{number}", "elements": elements})

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(fill, range(24)))
        full = resident()
        stack.close()
        eventually("the rooms are gone", lambda: pipeline.metrics("fanout")["touchsync_fanout_rooms"] == 0, within=20)
        eventually("memory is given back", lambda: resident() < full - 32, within=30, every=0.5)
