"""What people show of themselves."""

import time

from app import fence


def at(x, y=2):
    return lambda data: data["x"] == x and data["y"] == y


def shown(app, room, user):
    """What the answer to a join says that a user's connections show."""
    members = {member["userId"]: member for member in app.join(room)["members"]}
    return [{key: value for key, value in connection.items() if key != "sid"}
            for connection in members[user]["connections"]]


def test_others_see_the_cursor_and_the_selection(single, apps, room, two):
    ada, bob = two
    quiet = apps(single.url, "quiet", auth={"previews": False})
    old = apps(single.url, "old", auth={"roomId": room})
    quiet.join(room)
    bob.wait("member:joined", where=lambda data: data["userId"] == "old")
    ada.send("cursor:moving", {"roomId": room, "x": 1.5, "y": -2})
    ada.ok("selection:set", {"roomId": room, "elementIds": ["a", "b"]})
    moved = bob.wait("cursor:moved")
    assert moved == {"roomId": room, "userId": "ada", "sid": moved["sid"], "x": 1.5, "y": -2, "dt": 0}
    changed = bob.wait("selection:changed")
    assert changed == {"roomId": room, "userId": "ada", "sid": moved["sid"], "elementIds": ["a", "b"]}
    ada.send("cursor:moving", {"roomId": room, "x": None, "y": None})
    bob.wait("cursor:moved", where=at(None, None))
    fence(room, ada, bob)
    for app in (ada, quiet, old):
        assert app.named("cursor:moved") == [] and app.named("selection:changed") == []


def test_an_answer_to_a_join_says_who_its_app_is(single, guarded, apps, room):
    app = apps(single.url, "ada", name="Ada", auth={"color": "#123456"})
    joined = app.join(room)
    assert joined["self"] == {"userId": "ada", "name": "Ada", "color": "#123456", "right": "commit"}
    assert abs(joined["time"] - time.time() * 1000) < 60_000
    assert joined["time"] <= app.ok("client:ping", {})["time"] < joined["time"] + 60_000
    for right in ("view", "preview", "commit"):
        app = apps(guarded.url, auth={"token": guarded.token("eve", [room], right, name="Eve")})
        said = app.join(room)["self"]
        assert said.pop("color") and said == {"userId": "eve", "name": "Eve", "right": right}


def test_all_see_how_a_user_is_called_on_the_newest_device(single, apps, room, two):
    ada, bob = two
    old = apps(single.url, "old", auth={"roomId": room})
    bob.wait("member:joined", where=lambda data: data["userId"] == "old")
    tablet = apps(single.url, "ada", name="Ada Lovelace", auth={"color": "#010203"})
    named = {"userId": "ada", "name": "Ada Lovelace", "color": "#010203"}
    found = [member for member in tablet.join(room)["members"] if member["userId"] == "ada"]
    assert len(found) == 1 and named.items() <= found[0].items()
    for app in two:
        assert app.wait("member:changed") == {"roomId": room, **named}
    late = apps(single.url, "late").join(room)["members"]
    assert [member["name"] for member in late if member["userId"] == "ada"] == ["Ada Lovelace"]
    # The same name is no news, and the one who brings it hears it from the answer.
    again = apps(single.url, "ada", name="Ada Lovelace", auth={"color": "#010203"})
    again.join(room)
    fence(room, *two)
    assert len(ada.named("member:changed")) == len(bob.named("member:changed")) == 1
    assert tablet.named("member:changed") == again.named("member:changed") == old.named("member:changed") == []


def test_a_new_token_may_bring_another_name(guarded, apps, room):
    ada, bob = (apps(guarded.url, auth={"token": guarded.token(user, [room], name=user)}) for user in ("ada", "bob"))
    ada.join(room)
    bob.join(room)
    ada.ok("auth:refresh", {"token": guarded.token("ada", [room], name="Countess")})
    told = bob.wait("member:changed")
    assert told.pop("color") and told == {"roomId": room, "userId": "ada", "name": "Countess"}
    assert ada.wait("member:changed")["name"] == "Countess"
    assert bob.join(room)["members"][0]["name"] == "Countess"
    assert ada.join(room)["self"]["name"] == "Countess"


def test_they_end_with_the_connection(single, apps, room, two):
    ada, bob = two
    tablet = apps(single.url, "ada")
    tablet.join(room)
    for app, x in ((ada, 1), (tablet, 10)):
        app.send("cursor:moving", {"roomId": room, "x": x, "y": 2})
        app.ok("selection:set", {"roomId": room, "elementIds": [f"e{x}"]})
        bob.wait("cursor:moved", where=at(x))
        bob.wait("selection:changed", where=lambda data, x=x: data["elementIds"] == [f"e{x}"])
    late = apps(single.url, "late")
    state = {"cursor": {"x": 1, "y": 2}, "selection": ["e1"]}, {"cursor": {"x": 10, "y": 2}, "selection": ["e10"]}
    assert sorted(shown(late, room, "ada"), key=str) == sorted(state, key=str)
    tablet.vanish()
    gone = bob.wait("cursor:moved", where=at(None, None))
    assert bob.wait("selection:changed", where=lambda data: data["elementIds"] == [])["sid"] == gone["sid"]
    assert shown(apps(single.url, "later"), room, "ada") == [state[0]]
    ada.leave(room)
    bob.wait("selection:changed", where=lambda data: data["elementIds"] == [] and data["sid"] != gone["sid"])


VIEW = {"x": 10, "y": 20, "width": 300, "height": 200}


def test_a_state_and_a_shared_viewport_reach_the_other_gateway(double, apps, room):
    ada, bob = apps(double.urls[0], "ada"), apps(double.urls[1], "bob")
    quiet = apps(double.urls[1], "quiet", auth={"previews": False})
    sid = ada.join(room)["sid"]
    for app in (bob, quiet):
        app.join(room)
    old = apps(double.urls[1], "old", auth={"roomId": room})
    bob.wait("member:joined", where=lambda data: data["userId"] == "old")
    whose = {"roomId": room, "userId": "ada", "sid": sid}
    assert ada.ok("presence:set", {"roomId": room, "state": {"tool": "pen", "to": [1, None]}}) == {"ok": True}
    assert bob.wait("presence:changed") == {**whose, "state": {"tool": "pen", "to": [1, None]}}
    assert ada.ok("viewport:set", {"roomId": room, **VIEW, "share": True}) == {"ok": True}
    assert bob.wait("viewport:changed") == {**whose, **VIEW}
    late = apps(double.urls[1], "late")
    assert shown(late, room, "ada") == [{"state": {"tool": "pen", "to": [1, None]}, "viewport": VIEW}]
    ada.ok("viewport:set", {"roomId": room, **VIEW})
    assert bob.wait("viewport:changed", where=lambda data: data["x"] is None) == {**whose, **dict.fromkeys(VIEW)}
    # The newest of many always comes.
    for number in range(200):
        ada.send("presence:set", {"roomId": room, "state": {"number": number}})
    bob.wait("presence:changed", where=lambda data: data["state"].get("number") == 199)
    assert len(bob.named("presence:changed")) < 200
    ada.vanish()
    assert bob.wait("presence:changed", where=lambda data: data["state"] is None) == {**whose, "state": None}
    fence(room, late, bob)
    for app in (quiet, old):
        assert app.named("presence:changed") == app.named("viewport:changed") == []


def test_who_may_only_view_shows_nothing(guarded, apps, room):
    eve = apps(guarded.url, auth={"token": guarded.token("eve", [room], "view", name="Eve")})
    eve.join(room)
    eve.refused("presence:set", {"roomId": room, "state": {}}, "forbidden", "roomId")
    eve.refused("room:signal", {"roomId": room, "name": "wave"}, "forbidden", "roomId")
    eve.refused("viewport:set", {"roomId": room, **VIEW, "share": True}, "forbidden", "roomId")
    assert eve.ok("viewport:set", {"roomId": room, **VIEW}) == {"ok": True}


def test_a_signal_reaches_the_others_once(double, apps, room):
    ada, bob, tablet = apps(double.urls[0], "ada"), apps(double.urls[1], "bob"), apps(double.urls[0], "ada")
    quiet = apps(double.urls[1], "quiet", auth={"previews": False})
    sid = ada.join(room)["sid"]
    for app in (bob, tablet, quiet):
        app.join(room)
    old = apps(double.urls[1], "old", auth={"roomId": room})
    bob.wait("member:joined", where=lambda data: data["userId"] == "old")
    for number in range(5):
        assert ada.ok("room:signal", {"roomId": room, "name": "wave", "data": {"number": number}}) == {"ok": True}
    ada.ok("room:signal", {"roomId": room, "name": "end"})
    told = [{"roomId": room, "userId": "ada", "sid": sid, "name": "wave", "data": {"number": number}}
            for number in range(5)]
    for app in (bob, tablet, quiet):
        end = app.wait("room:signaled", where=lambda data: data["name"] == "end")
        assert app.named("room:signaled") == [*told, end] and end["data"] is None
    fence(room, bob, ada, old)
    assert ada.named("room:signaled") == old.named("room:signaled") == []
