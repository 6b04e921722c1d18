"""Token mode: who may do what, and for how long."""

import time

import pytest
import requests

from app import POLLING, WEBSOCKET, Refused, fence
from conftest import claims, signed
from pipeline import eventually

TRANSPORTS = pytest.mark.parametrize("transports", [WEBSOCKET, POLLING], ids=["websocket", "polling"])


@pytest.fixture
def enter(guarded, apps):
    """Connects with a token for these rooms."""

    def enter(user, rooms, right="commit", ttl=3600, transports=None, **more):
        token = guarded.token(user, rooms, right, ttl, **more)
        return apps(guarded.url, auth={"token": token}, transports=transports)

    return enter


@TRANSPORTS
@pytest.mark.parametrize(
    "auth",
    [{}, {"token": "nonsense"}, {"token": "a.b.c"}, {"token": ""}, {"token": 5}, {"token": None}, {"userId": "ada"}],
    ids=["none", "nonsense", "three parts", "empty", "a number", "null", "only a name"],
)
def test_without_a_good_token_nobody_comes_in(guarded, apps, transports, auth):
    with pytest.raises(Refused) as refused:
        apps(guarded.url, auth=auth, transports=transports)
    data = refused.value.data
    assert isinstance(data["message"], str) and data["data"]["code"] in ("forbidden", "invalid", "session_expired")


def test_a_token_from_elsewhere(guarded, apps, room):
    more = {"aud": ["other", "touchsync"], "name": "Eve", "color": "#e0e", "iat": int(time.time()), "whatever": [1]}
    members = apps(guarded.url, auth={"token": signed(claims(**more))}).join(room)["members"]
    assert [member.pop("connections")[0].keys() for member in members] == [{"sid"}]
    assert members == [{"userId": "eve", "name": "Eve", "color": "#e0e"}]
    app = apps(guarded.url, auth={"token": signed(claims(rooms={room: "view", "*": "commit"}))})
    app.join(room)


@TRANSPORTS
def test_a_token_may_stand_anywhere(guarded, apps, room, transports):
    token = guarded.token("ada", [room], name="Ada L.")
    members = apps(guarded.url, auth={"token": token}, transports=transports).join(room)["members"]
    assert [(member["userId"], member["name"]) for member in members] == [("ada", "Ada L.")]
    apps(guarded.url + f"?token={token}", transports=transports).join(room)
    apps(guarded.url, headers={"Authorization": f"Bearer {token}"}, transports=transports).join(room)
    # Who one is says the token, not the app.
    liar = apps(guarded.url, auth={"token": token, "userId": "bob", "name": "Bob"}, transports=transports)
    assert {member["userId"] for member in liar.join(room)["members"]} == {"ada"}


def test_each_right_includes_the_one_before(guarded, enter, room):
    owner = enter("owner", [room], "commit")
    owner.join(room)
    owner.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "e"}})
    previewer = enter("previewer", [room], "preview")
    viewer = enter("viewer", [room], "view")
    for app in (previewer, viewer):
        assert len(app.join(room)["elements"]) == 1
        for event, payload in [
            ("element:create", {"element": {"type": "note"}}),
            ("elements:create", {"elements": [{"type": "note"}]}),
            ("element:transform", {"elementId": "e", "positionX": 1}),
            ("element:update", {"elementId": "e", "set": {"x": 1}}),
            ("element:delete", {"elementId": "e"}),
        ]:
            app.refused(event, {"roomId": room, **payload}, "forbidden")
    previewer.send("element:transforming", {"roomId": room, "elementId": "e", "positionX": 5})
    assert owner.wait("element:transforming")["userId"] == "previewer"
    viewer.send("element:transforming", {"roomId": room, "elementId": "e", "positionX": 6})
    assert viewer.wait("transform:error")["code"] == "forbidden"
    fence(room, owner, viewer)
    assert [p for p in owner.named("element:transforming") if p["userId"] == "viewer"] == []
    owner.ok("element:transform", {"roomId": room, "elementId": "e", "positionX": 1})
    assert viewer.wait("element:transformed")["userId"] == "owner"


def test_rooms_that_one_may_not_see(guarded, enter, apps, room):
    ada = enter("ada", [room])
    first = ada.refused("room:join", {"roomId": room + "-secret"}, "forbidden")
    owner = enter("owner", [room + "-secret"])
    owner.join(room + "-secret")
    owner.ok("element:create", {"roomId": room + "-secret", "element": {"type": "note"}})
    # The same answer whether there is something or not.
    assert ada.refused("room:join", {"roomId": room + "-secret"}, "forbidden") == first
    ada.refused("element:create", {"roomId": room + "-secret", "element": {"type": "note"}}, "forbidden")
    token = guarded.token("ada", [room])
    with pytest.raises(Refused) as refused:
        apps(guarded.url, auth={"token": token, "roomId": room + "-secret"})
    assert refused.value.data["data"]["code"] == "forbidden"
    everywhere = enter("root", ["*"])
    assert everywhere.join(room + "-secret")["seq"] == 1


def test_a_token_that_ends(guarded, enter, apps, room):
    """Fresh enough when the app connects: a warning half a minute ahead, the end at the end; a new token in between."""
    brief = enter("brief", [room], ttl=3)
    kept = enter("kept", [room], ttl=3)
    brief.join(room)
    kept.join(room)
    assert brief.wait("auth:error")["code"] == "session_expired"
    answer = kept.ok("auth:refresh", {"token": guarded.token("kept", [room], ttl=3600)})
    assert answer["expiresAt"] > time.time() + 3000
    # A second later than its token, which is the leeway of this gateway.
    brief.wait("disconnect", within=8)
    assert [error["code"] for error in brief.named("auth:error")][-1] == "session_expired"
    assert kept.ok("element:create", {"roomId": room, "element": {"type": "note"}})["seq"] == 1
    assert kept.is_connected


def test_refreshing(guarded, enter, room):
    app = enter("ada", [room], "view")
    app.join(room)
    app.refused("element:create", {"roomId": room, "element": {"type": "note"}}, "forbidden")
    app.ok("auth:refresh", {"token": guarded.token("ada", [room], "commit")})
    app.ok("element:create", {"roomId": room, "element": {"type": "note"}})
    for token in ("nonsense", guarded.token("bob", [room]), 5, None):
        assert app.call("auth:refresh", {"token": token})["ok"] is False
    app.ok("element:create", {"roomId": room, "element": {"type": "note"}})


def test_a_cookie_is_no_credential(guarded, apps, room):
    """A browser sends it along without being asked, whoever made it open the connection."""
    token = guarded.token("ada", [room])
    cookie = {"Cookie": f"token={token}; Authorization=Bearer {token}; io={token}"}
    assert requests.get(f"{guarded.url}/api/rooms/{room}", headers=cookie, timeout=5).status_code == 401
    for transports in (WEBSOCKET, POLLING):
        with pytest.raises(Refused) as refused:
            apps(guarded.url, headers=cookie, transports=transports)
        assert refused.value.data["data"]["code"] in ("forbidden", "invalid")


def test_http_asks_for_the_same(guarded, enter, room):
    enter("ada", [room]).join(room)
    url = f"{guarded.url}/api/rooms/{room}"

    def bearer(*token):
        return {"Authorization": "Bearer " + guarded.token(*token)}

    assert requests.get(url, timeout=5).status_code == 401
    assert requests.get(url, headers={"Authorization": "Bearer x"}, timeout=5).status_code == 401
    assert requests.get(url, headers=bearer("ada", ["other"]), timeout=5).status_code == 403
    body = {"type": "note", "id": "e"}
    answer = requests.post(f"{url}/elements", json=body, headers=bearer("ada", [room], "view"), timeout=5)
    assert answer.status_code == 403 and answer.json()["error"]["code"] == "forbidden"
    answer = requests.post(f"{url}/elements", json=body, headers=bearer("ada", [room]), timeout=5)
    assert answer.status_code == 201 and answer.json()["element"]["createdBy"] == "ada"
    reader = bearer("bob", [room], "view")
    eventually("the room shows it", lambda: requests.get(url, headers=reader, timeout=5).json().get("seq") == 1)


def test_the_command_names_what_is_wrong(guarded):
    for arguments, word in [
        (["--user", "ada"], "room"),
        (["--user", "ada", "--room", "a b"], "room"),
        (["--user", "ada", "--room", "r", "--right", "own"], "right"),
        (["--user", "ada", "--room", "r", "--ttl", "0"], "ttl"),
    ]:
        done = guarded.touchsync("token", *arguments, check=False)
        assert done.returncode != 0 and word in done.stderr, (arguments, done.stderr)
