"""Clients against the four daemons: each of them does the same."""

import random
import time

import pytest
import requests

from client_process import Refused
from conftest import HERE, SECRET
from pipeline import eventually, running

MODULE = HERE.parent.parent / "Shared" / "Client" / "web" / "touchsync.js"


def note(name):
    return {"id": name, "type": "note"}


def push(client, room, times):
    """Moves the element a by a pixel, each time on top of what is there; returns what waits for the results."""
    results = []
    for _ in range(times):
        client.call("begin", room, "push", "a")
        client.call("gesture", "push", "update", {"translation": {"x": 1, "y": 0}})
        results.append(client.start("gesture", "push", "end"))
    return results


def test_two_see_each_others_edits(two, room):
    ada, bob = two
    made = ada.edit(room, "create", note("a"))
    assert made["seq"] == 1
    eventually("bob sees it", lambda: bob.positions(room) == {"a": 0})
    bob.edit(room, "transform", "a", {"positionX": 7, "rotation": 30})
    eventually("ada sees it", lambda: ada.positions(room) == {"a": 7})
    assert {member["userId"] for member in ada.look(room)["members"]} == {"ada", "bob"}
    done = ada.edit(room, "transform", "a", {"scaleX": 99})
    assert done["element"]["scaleX"] == 10 and done["adjusted"][0]["field"] == "scaleX"


def test_a_transform_may_be_as_in_the_api_in_javascript(single, clients, room, kind):
    ada = clients(single.url).enter(room)
    ada.edit(room, "create", note("a"))
    angle = {"rotation": 30} if kind == "swift" else {"transform": {"rotation": 30}}
    done = ada.edit(room, "transform", "a", {"positionX": 7} | angle)
    assert (done["element"]["positionX"], done["element"]["rotation"]) == (7, 30)


def test_a_client_knows_who_it_is_and_how_others_are_called(single, clients, room):
    ada, bob = clients(single.url, "ada", name="Ada").enter(room), clients(single.url, "bob", name="Bob").enter(room)
    me = ada.look(room)["self"]
    assert me.pop("color") and me == {"userId": "ada", "name": "Ada", "right": "commit"}

    def names(client):
        return {member["userId"]: member["name"] for member in client.look(room)["members"]}

    eventually("ada sees both", lambda: names(ada) == {"ada": "Ada", "bob": "Bob"})
    tablet = clients(single.url, "bob", name="Robert").enter(room)
    for client in (ada, bob, tablet):
        eventually("all see the newest name", lambda client=client: names(client) == {"ada": "Ada", "bob": "Robert"})
    assert bob.look(room)["self"]["name"] == "Bob" and tablet.look(room)["self"]["name"] == "Robert"


def test_every_kind_of_edit(two, room):
    ada, bob = two
    ada.edit(room, "createAll", [note("a"), note("b"), {"id": "p", "type": "photo"}])
    ada.edit(room, "create", {"id": "t", "type": "text", "parentId": "p", "space": "normalized", "positionX": 0.5})
    ada.edit(room, "update", "a", {"content": "hello", "tint": "red", "zIndex": 4})
    removed = ada.edit(room, "update", "a", {"tint": None, "zIndex": None, "originalWidth": 300})["element"]
    assert removed["width"] == 300 and not removed.keys() & {"tint", "zIndex"}
    ada.edit(room, "preset", "a", "rotateCW")
    ada.edit(room, "transformAll", [{"elementId": "a", "positionX": 1}, {"elementId": "b", "positionX": 2}])
    ada.call("begin", room, "g", ["a", "b"])
    ada.call("gesture", "g", "update", {"translation": {"x": 10, "y": 0}})
    ada.call("gesture", "g", "end")
    eventually("bob sees it", lambda: bob.positions(room) == {"a": 11, "b": 12, "p": 0, "t": 0.5})
    assert ada.look(room)["elements"] == bob.look(room)["elements"]
    assert bob.edit(room, "history", {"limit": 1})["entries"][0]["event"] == "elements:created"
    ada.edit(room, "delete", "p")
    ada.edit(room, "delete", ["a", "b"])
    eventually("bob sees nothing", lambda: bob.positions(room) == {})


def test_what_moves_is_where_time_says_until_a_hand_catches_it(two, room):
    ada, bob = two
    ada.edit(room, "create", note("a"))
    move = {"elementId": "a", "positionX": 60000, "motion": {"ms": 60000, "curve": "linear"}}
    ada.edit(room, "edit", "element:transform", move)

    def drawn(client):
        return client.look(room)["drawn"][0]["positionX"]

    eventually("bob has it", lambda: bob.positions(room))
    eventually("bob sees it on its way", lambda: 0 < drawn(bob) < 60000 == bob.positions(room)["a"])
    # A pixel a ms: who looks later sees it further, but for what clocks may differ.
    before, seen, after = drawn(ada), drawn(bob), drawn(ada)
    assert before - 500 < seen < after + 500
    bob.call("begin", room, "catch", "a")
    caught = eventually("it stops", lambda: ada.look(room)["elements"][0].get("motion") is None and ada.positions(room)["a"])
    assert seen - 500 < caught < 60000
    bob.call("gesture", "catch", "cancel")
    bob.settled(room)
    assert drawn(ada) == drawn(bob) == bob.positions(room)["a"] == caught


def test_a_refusal_takes_the_edit_back(two, room):
    ada, _ = two
    ada.edit(room, "create", {**note("a"), "locked": True})
    with pytest.raises(Refused) as refused:
        ada.edit(room, "transform", "a", {"positionX": 9})
    assert refused.value.error["code"] == "forbidden" and refused.value.error["field"] == "locked"
    assert ada.positions(room) == {"a": 0}
    # The numbers go on.
    ada.edit(room, "create", note("b"))


def test_what_is_removed_vanishes_and_a_resize_is_undone(two, room):
    ada, bob = two

    def seen(by):
        return next((element for element in by.look(room)["elements"] if element["id"] == "a"), {})

    ada.edit(room, "create", {**note("a"), "zIndex": 4, "tint": "red"})
    ada.edit(room, "update", "a", {"zIndex": None, "tint": None})
    ada.edit(room, "resize", "a", {"height": 30})
    for client in two:
        eventually("both see it", lambda: seen(client).get("height") == 30)
        assert not seen(client).keys() & {"zIndex", "tint"}
    ada.edit(room, "undo")
    for client in two:
        eventually("it has its size again", lambda: seen(client).get("height") == note("a").get("originalHeight", 100))
    ada.edit(room, "undo")
    for client in two:
        eventually("it is as it was", lambda: seen(client).get("tint") == "red")
        assert seen(client)["height"] == 100 and seen(client)["zIndex"] == 4
    bob.edit(room, "update", "a", {"locked": True})
    eventually("ada sees the lock", lambda: seen(ada).get("locked"))
    with pytest.raises(Refused) as refused:
        ada.edit(room, "update", "a", {"originalHeight": 30})
    assert refused.value.error["field"] == "locked" and seen(ada)["height"] == 100


GEOMETRY = [
    "positionX", "positionY", "rotation", "scaleX", "scaleY", "width", "height", "originalWidth", "originalHeight",
    "anchorX", "anchorY",
]


def random_element(chance, name):
    element = {
        "id": name, "type": chance.choice(["note", "photo", "video", "audio", "text", "pin"]),
        "positionX": chance.uniform(-500, 500), "width": chance.uniform(30, 400), "height": chance.uniform(30, 400),
        "rotation": chance.uniform(-400, 400), "scaleX": chance.choice([-2, 0.05, 0.7, 1]),
    }
    if chance.random() < 0.3:
        element["snapDegrees"] = chance.choice([15, 45, 100])
    if chance.random() < 0.3:
        element["bounds"] = {"x": -100.5, "y": -100, "width": 300, "height": 200}
    if chance.random() < 0.3:
        element["constraints"] = random_constraints(chance)
    return element


def random_constraints(chance):
    low, scale = chance.uniform(-360, 360), chance.uniform(0.01, 12)
    constraints = {
        "axis": chance.choice("xy"), "rotation": {"min": low, "max": min(low + chance.uniform(0, 360), 360)},
        "scale": {"min": scale, "max": scale + chance.choice([0, 3])},
        "grid": chance.choice([{"x": 0.5, "y": 7.5, "offsetY": -100}, {"y": 40, "offsetX": 3}, {"x": 1, "offsetX": 0.5}, {}]),
    }
    return {part: constraints[part] for part in chance.sample(sorted(constraints), chance.randint(0, 4))}


def random_edit(chance, name):
    """An edit of an element, as the method of a room and its arguments."""
    factor = chance.choice([-1.0, 0.02, 0.9, 1.5, 30])
    gesture = {
        "translation": {"x": chance.uniform(-90, 90), "y": chance.uniform(-90, 90)}, "rotation": chance.uniform(-400, 400),
        "scale": chance.choice([factor, {"x": factor, "y": chance.uniform(0.5, 2)}]),
        "anchor": {"x": chance.uniform(-1, 2), "y": chance.uniform(0, 1)},
    }
    kept = chance.sample(sorted(gesture), chance.randint(1, 4))
    fields = {"positionX": chance.uniform(-500, 500), "rotation": chance.uniform(-400, 400), "scaleY": factor}
    values = {
        "originalWidth": chance.uniform(1, 300), "originalHeight": chance.choice([0.0001, 20, 1e10]),
        "snapDegrees": chance.choice([None, 30, 500]), "bounds": None, "fontSize": chance.choice([None, 5, 30]),
        "zIndex": chance.choice([None, 7]), "tint": chance.choice([None, "red", [None]]),
        "constraints": chance.choice([None, random_constraints(chance)]),
    }
    return chance.choice([
        ["update", name, {part: values[part] for part in chance.sample(sorted(values), chance.randint(1, 5))}],
        ["edit", "element:gesture", {"elementId": name, **{part: gesture[part] for part in kept}}],
        ["transform", name, {part: fields[part] for part in chance.sample(sorted(fields), chance.randint(1, 3))}],
        ["preset", name, chance.choice(["rotateCW", "rotateCCW", "rotate180", "flipX", "flipY", "reset"])],
    ])


def test_what_is_shown_before_the_answer_is_what_the_server_stores(two, room):
    ada, _ = two
    seed = time.time_ns()
    print("seed", seed)
    chance = random.Random(seed)
    for number in range(40):
        name = f"e{number}"
        for edit in [["create", random_element(chance, name)], *(random_edit(chance, name) for _ in range(4))]:
            shown, stored = ada.call("predict", room, name, *edit)
            for field in GEOMETRY:
                assert shown[field] == pytest.approx(stored[field], rel=1e-9, abs=1e-9), (field, edit, shown, stored)
            for field in ["snapDegrees", "bounds", "constraints", "fontSize", "zIndex", "tint"]:
                assert shown.get(field) == stored.get(field), (field, edit, shown, stored)


def test_undo_and_redo(two, room):
    ada, bob = two
    ada.edit(room, "create", note("a"))
    ada.edit(room, "transform", "a", {"positionX": 5})
    bob.edit(room, "transform", "a", {"rotation": 45})
    assert can(ada, room) == (True, False)
    ada.edit(room, "undo")
    eventually("it is back", lambda: bob.positions(room) == {"a": 0})
    assert bob.look(room)["elements"][0]["rotation"] == 45
    eventually("ada can redo it", lambda: can(ada, room) == (True, True))
    ada.edit(room, "redo")
    eventually("it is there again", lambda: bob.positions(room) == {"a": 5})
    ada.edit(room, "redo")
    assert can(ada, room) == (True, False)
    # Bob has one edit, which is his.
    bob.edit(room, "undo")
    bob.edit(room, "undo")
    eventually("bob can redo his alone", lambda: can(bob, room) == (False, True))


def can(client, room):
    """Whether it can undo and redo."""
    now = client.look(room)
    return now["canUndo"], now["canRedo"]


def test_an_undo_asked_again_leaves_out_what_it_cannot_take_back(two, room):
    ada, bob = two
    ada.edit(room, "create", note("old"))
    ada.edit(room, "create", note("a"))
    eventually("bob sees it", lambda: bob.positions(room) == {"old": 0, "a": 0})
    bob.edit(room, "transform", "a", {"positionX": 5})
    with pytest.raises(Refused) as refused:
        ada.edit(room, "undo")
    error = refused.value.error
    assert error["code"] == "conflict" and error["by"] == "bob"
    assert error["entry"] == {"seq": 2, "event": "element:created", "elementIds": ["a"]}
    assert bob.positions(room) == {"old": 0, "a": 5}
    ada.edit(room, "undo")
    eventually("the older one is undone", lambda: bob.positions(room) == {"a": 5})


def test_gestures_are_shown_while_they_last(two, room):
    ada, bob = two
    ada.edit(room, "create", note("a"))
    ada.call("begin", room, "g", "a")
    ada.call("gesture", "g", "update", {"translation": {"x": 100, "y": 0}})
    eventually("bob sees the gesture", lambda: [each["positionX"] for each in bob.look(room)["drawn"]] == [100])
    assert bob.positions(room) == {"a": 0}
    ada.call("gesture", "g", "cancel")
    eventually("it is back", lambda: [each["positionX"] for each in bob.look(room)["drawn"]] == [0])
    ada.call("begin", room, "h", "a")
    ada.call("gesture", "h", "update", {"translation": {"x": 40, "y": 0}})
    ada.call("gesture", "h", "end")
    eventually("bob has it", lambda: bob.positions(room) == {"a": 40})


def pose(element):
    return {name: element[name] for name in ["positionX", "positionY", "rotation", "scaleX", "scaleY"]}


def looks_like(elements, others):
    """Whether they are drawn at the same places; positions may be rounded."""
    return len(elements) == len(others) and all(
        (value - others[name][field] + 180) % 360 - 180 == pytest.approx(0, abs=1e-6) if field == "rotation"
        else value == pytest.approx(others[name][field], abs=0.5001 if field.startswith("position") else 1e-9)
        for name, element in elements.items() for field, value in element.items())


def test_a_group_is_shown_to_its_publisher_and_to_others_as_it_is_stored(two, room):
    ada, bob = two
    ada.edit(room, "createAll", [
        {"id": "a", "type": "note", "rotation": 30, "positionX": -100, "width": 200, "height": 60},
        {"id": "b", "type": "note", "rotation": 90, "positionX": 100, "scaleX": -1.5},
        {"id": "c", "type": "text", "rotation": 200, "positionY": 80, "snapDegrees": 7},
        {"id": "d", "type": "photo", "rotation": 45, "positionY": -90},
        {"id": "e", "type": "audio", "positionX": 50, "positionY": 50, "width": 200, "height": 60},
    ])

    def drawn(client):
        return {element["id"]: pose(element) for element in client.look(room)["drawn"]}

    eventually("bob has them", lambda: len(drawn(bob)) == 5)
    for rotation, gesture in [
        (330, [{"scale": {"x": -1, "y": 1}}]),
        # tan φ' = 0.8 tan φ / 1.4, and 20° more.
        (1.7415, [{"scale": {"x": 1.4, "y": 0.8}, "rotation": 20}]),
        # Others see that it turns back, too.
        (1.7415, [{"scale": {"x": 1, "y": -1.5}}, {"scale": {"x": 0.7, "y": 0.7}}]),
    ]:
        ada.call("begin", room, "g", list("abcde"))
        for deltas in gesture:
            ada.call("gesture", "g", "update", deltas)
            shown = drawn(ada)
            eventually("bob sees the same", lambda: looks_like(drawn(bob), shown))
        stored = {element["id"]: pose(element) for element in ada.call("gesture", "g", "end")["elements"]}
        assert looks_like(stored, shown) and stored["a"]["rotation"] == pytest.approx(rotation, abs=1e-3)
        eventually("bob has it", lambda: {each["id"]: pose(each) for each in bob.look(room)["elements"]} == stored)
    assert stored["b"]["rotation"] % 90 == 20 and stored["e"]["rotation"] == 0


def test_gestures_are_shown_between_other_edits(two, room):
    ada, bob = two
    ada.edit(room, "create", note("a"))
    for turn in range(1, 4):
        ada.call("begin", room, "g", "a")
        ada.call("gesture", "g", "update", {"translation": {"x": 50, "y": 0}})
        eventually("bob sees it", lambda: [each["positionX"] for each in bob.look(room)["drawn"]] == [50 * turn])
        ada.call("gesture", "g", "end")
        # Edits that belong to no gesture must not use up the number of the next one.
        ada.edit(room, "preset", "a", "rotateCW")
        ada.edit(room, "transform", "a", {"positionY": turn})


def test_people(two, room):
    ada, bob = two
    ada.edit(room, "create", note("a"))
    ada.edit(room, "point", {"x": 3, "y": 4})
    ada.edit(room, "select", ["a"])

    def seen():
        found = [member["connections"] for member in bob.look(room)["members"] if member["userId"] == "ada"]
        return [{name: each.get(name) for name in ("cursor", "selection")} for each in found[0]]

    eventually("bob sees it", lambda: seen() == [{"cursor": {"x": 3, "y": 4}, "selection": ["a"]}])


def test_a_view_is_followed(two, room):
    ada, bob = two
    bob.call("follow", room, "ada")
    bob.wait("view", lambda value: value is None)
    for view in ({"x": 10, "y": 20, "width": 300, "height": 200}, {"x": 50, "y": 20, "width": 300, "height": 200}):
        ada.call("share", room, view)
        bob.wait("view", lambda value: value == view)
    told = len(bob.events)
    ada.call("share", room, None)
    bob.wait("view", lambda value: value is None, after=told)


def test_edits_made_offline_are_replayed(two, room):
    ada, bob = two
    ada.edit(room, "create", note("a"))
    ada.call("disconnect")
    for x in range(1, 6):
        ada.call("start", room, "transform", "a", {"positionX": x})
    ada.call("start", room, "transform", "a", {"scaleX": 2})
    made = ada.start("edit", room, "create", note("b"))
    assert ada.positions(room) == {"a": 5, "b": 0}
    bob.edit(room, "transform", "a", {"rotation": 10})
    ada.call("connect")
    # One transform, as nobody needs the values in between: created, rotated, moved, created.
    assert made()["seq"] == 4
    eventually("bob sees it", lambda: bob.positions(room) == {"a": 5, "b": 0})


def test_after_a_cut_it_resumes(two, room):
    ada, bob = two
    ada.edit(room, "create", note("a"))
    for _ in range(3):
        before = len(ada.events)
        ada.call("cut")
        push(ada, room, 5)
        bob.edit(room, "transform", "a", {"rotation": 10})
        ada.wait("state", lambda state: state == "live", after=before)
        ada.settled(room)
    eventually("both agree", lambda: ada.positions(room) == bob.positions(room) == {"a": 15})


def test_saved_edits_are_sent_even_if_the_app_does_not_open_their_room(single, clients, room, tmp_path):
    store = {"store": str(tmp_path / "edits"), "owner": "ada"}
    ada = clients(single.url, "ada", **store)
    ada.call("join", room)
    ada.call("start", room, "create", note("a"))
    ada.close()
    assert room in ada.kept()[0]
    again = clients(single.url, "ada", **store)
    again.call("connect")
    eventually("it was sent and forgotten", lambda: not again.kept())
    assert clients(single.url, "bob").enter(room).positions(room) == {"a": 0}


def test_a_closed_app_goes_on_where_it_was(single, clients, room, tmp_path):
    store = {"store": str(tmp_path / "edits"), "owner": "ada"}
    ada = clients(single.url, "ada", **store).enter(room)
    ada.edit(room, "create", note("a"))
    ada.call("disconnect")
    for x in range(3):
        ada.call("start", room, "preset", "a", "rotateCW")
    ada.close()
    again = clients(single.url, "ada", **store).enter(room)
    again.settled(room)
    assert again.look(room)["elements"][0]["rotation"] == 270 and single.assert_gapless(room) == 4
    again.close()
    assert not again.kept()


def test_the_gateway_is_killed_amid_edits(clients, room):
    with running("--commit-burst", 1000) as pipeline:
        ada, bob = (clients(pipeline.url, user).enter(room) for user in ("ada", "bob"))
        ada.edit(room, "create", note("a"))
        results = []
        for step in range(30):
            if step == 10:
                victim = pipeline.kill("gateway")
            results += push(ada, room, 1)
        pipeline.wait_restarted(victim)
        seqs = [result(within=40)["seq"] for result in results]
        assert seqs == sorted(set(seqs))
        eventually("both agree", lambda: ada.positions(room) == bob.positions(room) == {"a": 30}, within=20)
        assert pipeline.assert_gapless(room) == 31


def test_a_gateway_that_drains_is_left_in_time(clients, kind, room):
    with running(gateways=2) as pipeline:
        ada = clients(pipeline.url, "ada").enter(room)
        ada.edit(room, "create", note("a"))
        victim = pipeline.kill("gateway", 0, how=15)
        results = [ada.start("edit", room, "preset", "a", "rotateCW") for _ in range(5)]
        # Of a few apps each is closed at once. Node, when it writes to a connection that is gone, throws away what it has
        # not read yet.
        ada.wait_state("draining", *(["offline"] if kind == "web" else []))
        assert [result(within=40)["seq"] for result in results] == [2, 3, 4, 5, 6]
        pipeline.wait_restarted(victim)
        ada.settled(room)


def test_a_session_that_ends_doubles_nothing(clients, room):
    with running() as pipeline:
        ada, bob = (clients(pipeline.url, user).enter(room) for user in ("ada", "bob"))
        ada.edit(room, "create", note("a"))
        # Four are applied and their answers lost, four never arrive: the client does not know which.
        ada.call("deafen")
        push(ada, room, 4)
        eventually("they are applied", lambda: bob.positions(room) == {"a": 4})
        ada.call("mute")
        push(ada, room, 4)
        ada.call("cut")
        ada.call("disconnect")
        # All sessions end, as after a long time.
        (ended,), *_ = pipeline.rows(
            "with gone as (delete from sessions where room_id = %s returning session) select max(session) from gone", room)
        pipeline.rows("update meta set value = %s where key = 'session_floor' returning 1", ended + "~")
        for stage in ("committer", "fanout"):
            pipeline.wait_restarted(pipeline.kill(stage))
        ada.call("connect")
        ada.settled(room)
        assert f"/api/rooms/{room}/history?after=" in ada.wait("fetch")
        eventually("both agree", lambda: ada.positions(room) == bob.positions(room) == {"a": 8}, within=20)
        assert pipeline.assert_gapless(room) == 9


def test_tokens_are_renewed_before_they_end(clients, room):
    with running("--jwt-leeway-ms", 1000, environment={"TOUCHSYNC_JWT_SECRET": SECRET}) as pipeline:
        ada = clients(pipeline.url, hasTokens=True)
        ada.call("join", room)
        ada.call("connect")
        assert ada.wait("token") == "connect"
        ada.call("token", "nonsense")
        assert ada.wait("token", lambda reason: reason == "refused") == "refused"
        ada.call("token", pipeline.token("ada", [room], ttl=3))
        ada.call("joined", room)
        ada.edit(room, "create", note("a"))
        assert ada.wait("token", lambda reason: reason == "expires") == "expires"
        ada.call("token", pipeline.token("ada", [room], ttl=600))
        before = len(ada.events)
        # The first one ends meanwhile. Under the second one the room was joined again.
        time.sleep(5)
        ada.edit(room, "transform", "a", {"positionX": 1})
        assert all(event in [("state", "joining"), ("state", "live")] for event in ada.events[before:])


def test_the_gateway_serves_the_client(single):
    current = requests.get(single.url + "/client/touchsync.js", timeout=5)
    assert current.status_code == 200 and current.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert current.headers["X-Content-Type-Options"] == "nosniff" and current.headers["Content-Encoding"] == "gzip"
    # Whatever else it is, it is the source: browsers run it in the other tests.
    assert current.text == (MODULE.parent.parent / "served/touchsync.min.js").read_text()
    plain = requests.get(single.url + "/client/touchsync.js", headers={"Accept-Encoding": "identity"}, timeout=5)
    assert "Content-Encoding" not in plain.headers and plain.text == current.text
    assert requests.get(single.url + "/client/touchsync.src.js", timeout=5).text == MODULE.read_text()
    sources = requests.get(requests.compat.urljoin(current.url, current.headers["SourceMap"]), timeout=5).json()
    assert requests.get(single.url + "/client/" + sources["sources"][0], timeout=5).text == MODULE.read_text()
    for types in (MODULE.parent.parent / "types").glob("*.d.ts"):
        assert requests.get(f"{single.url}/client/{types.name}", timeout=5).text == types.read_text()
    known = {"If-None-Match": current.headers["ETag"]}
    again = requests.get(single.url + "/client/touchsync.js", headers=known, timeout=5)
    assert again.status_code == 304 and again.content == b"" and "Content-Length" not in again.headers
    version = single.touchsync("--version").stdout.split()[1]
    fixed = requests.head(f"{single.url}/client/{version}/touchsync.js", timeout=5)
    assert fixed.status_code == 200 and "immutable" in fixed.headers["Cache-Control"] and fixed.content == b""
    elsewhere = requests.get(single.url + "/client/touchsync.js", headers={"Origin": "https://elsewhere.example"}, timeout=5)
    assert elsewhere.status_code == 403
