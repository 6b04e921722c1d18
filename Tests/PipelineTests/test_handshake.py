"""Apps of the 1.0 contract, and what an app may say when it connects."""

import pytest

from app import POLLING, UPGRADE, WEBSOCKET, Refused, fence
from shapes import ELEMENT, assert_element, assert_preview

TRANSPORTS = pytest.mark.parametrize("transports", [WEBSOCKET, POLLING, UPGRADE], ids=["websocket", "polling", "upgrade"])


@TRANSPORTS
def test_an_app_of_the_old_contract_works_unchanged(single, apps, room, transports):
    """It names its room when it connects, never joins, numbers nothing, and knows the starred events only."""
    ada = apps(single.url, "ada", auth={"roomId": room}, transports=transports)
    bob = apps(single.url, "bob", auth={"roomId": room}, transports=transports)

    ada.send("element:create", {"roomId": room, "element": {"id": "e1", "type": "note", "positionX": 10, "mine": [1]}})
    for app in (ada, bob):
        created = app.wait("element:created")
        # The payload is the element itself, flat.
        assert_element(created, id="e1", type="note", positionX=10, width=100, createdBy="ada", rev=1, mine=[1])
        assert created["roomId"] == room and created["seq"] == 1 and created["userId"] == "ada" and created["sid"]

    ada.send(
        "element:transforming",
        {"roomId": room, "elementId": "e1", "transform": {"rotation": 30, "scaleX": 1.5, "scaleY": 1.5}, "positionX": 40},
    )
    preview = bob.wait("element:transforming")
    assert_preview(preview, ["positionX"])
    assert preview["elementId"] == "e1" and preview["userId"] == "ada"
    assert preview["transform"] == {"rotation": 30, "scaleX": 1.5, "scaleY": 1.5}
    assert preview["positionX"] == 40 and "positionY" not in preview

    answer = ada.ok(
        "element:transform",
        {
            "roomId": room, "elementId": "e1", "positionX": 40, "positionY": 50, "width": 150, "height": 150,
            "transform": {"rotation": 30, "scaleX": 1.5, "scaleY": 1.5},
        },
    )
    assert answer["seq"] == 2 and answer["adjusted"] == []
    for app in (ada, bob):
        update = app.wait("element:transformed")
        assert_element(update["element"], id="e1", positionX=40, positionY=50, rotation=30, scaleX=1.5, width=150, rev=2)
        assert update["seq"] == 2 and update["userId"] == "ada" and update["roomId"] == room
        assert "n" not in update

    ada.send("element:delete", {"roomId": room, "elementId": "e1"})
    for app in (ada, bob):
        deleted = app.wait("element:deleted")
        assert deleted["elementId"] == "e1" and deleted["seq"] == 3 and deleted["roomId"] == room
    assert ada.named("element:transforming") == []


def test_an_old_app_gets_one_event_for_each_new_element(single, apps, room):
    old = apps(single.url, "old", auth={"roomId": room})
    new = apps(single.url, "new")
    new.join(room)
    answer = new.ok(
        "elements:create", {"roomId": room, "elements": [{"type": "note", "id": "a"}, {"type": "text", "id": "b"}]}
    )
    assert [element["id"] for element in answer["elements"]] == ["a", "b"]
    assert new.wait("elements:created")["seq"] == 1
    old.wait("element:created", lambda element: element["id"] == "b")
    created = old.named("element:created")
    assert [element["id"] for element in created] == ["a", "b"]
    assert [element["seq"] for element in created] == [1, 1]
    assert all(ELEMENT <= element.keys() for element in created)
    # What is no transform is not told to old apps.
    new.ok("element:update", {"roomId": room, "elementId": "a", "set": {"content": "x"}})
    new.ok("element:transform", {"roomId": room, "elementId": "a", "positionX": 1})
    old.wait("element:transformed")
    assert old.named("element:updated") == [] and old.named("elements:created") == []


def test_an_old_app_that_joins_is_no_old_app_any_more(single, apps, room):
    app = apps(single.url, "ada", auth={"roomId": room})
    joined = app.join(room)
    assert joined["seq"] == 0
    app.ok("elements:create", {"roomId": room, "elements": [{"type": "note", "id": "a"}]})
    assert app.wait("elements:created")["elements"][0]["id"] == "a"
    assert app.named("element:created") == []


def test_a_refusal_without_an_acknowledgement(single, apps, room):
    app = apps(single.url, "ada", auth={"roomId": room})
    app.send("element:transform", {"roomId": room, "elementId": "nobody", "positionX": 1})
    error = app.wait("transform:error")
    assert error["event"] == "element:transform" and error["code"] == "not_found"
    assert error["roomId"] == room and error["elementId"] == "nobody" and error["message"]
    app.send("element:transform", {"roomId": room, "elementId": "nobody", "transform": {"rotation": "x"}})
    error = app.wait("transform:error", lambda error: error["code"] == "invalid")
    assert error["field"] == "transform.rotation"


@TRANSPORTS
@pytest.mark.parametrize("where", ["auth", "query", "headers"])
def test_the_room_may_be_named_anywhere(single, apps, room, transports, where):
    url, more = single.url, {"transports": transports}
    if where == "auth":
        more["auth"] = {"roomId": room, "userId": "ada", "name": "Ada", "color": "#123"}
    elif where == "query":
        url += f"?roomId={room}&userId=ada&name=Ada&color=%23123"
    else:
        more["headers"] = {
            "X-TouchSync-Room": room, "X-TouchSync-User": "ada", "X-TouchSync-Name": "Ada", "X-TouchSync-Color": "#123",
        }
    apps(url, **more)
    watcher = apps(single.url, "bob")
    members = {member["userId"]: member for member in watcher.join(room)["members"]}
    assert members["ada"]["name"] == "Ada" and members["ada"]["color"] == "#123"


def test_a_guest_without_a_name(single, apps, room):
    first, second = apps(single.url), apps(single.url)
    first.join(room)
    members = second.join(room)["members"]
    assert len({member["userId"] for member in members}) == 2
    assert all(member["userId"] and member["name"] for member in members)


def test_previews_can_be_switched_off(single, apps, room):
    ada = apps(single.url, "ada")
    plain = apps(single.url, "plain", auth={"previews": False})
    asked = apps(single.url, "asked")
    eager = apps(single.url, "eager", auth={"previews": False})
    bob = apps(single.url, "bob")
    ada.join(room)
    plain.join(room)
    asked.join(room, previews=False)
    # What the handshake switched off holds for all rooms.
    eager.join(room, previews=True)
    bob.join(room)
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "e"}})
    ada.send("element:transforming", {"roomId": room, "elementId": "e", "positionX": 5})
    fence(room, ada, bob)
    assert len([p for p in bob.named("element:transforming") if p["elementId"] == "e"]) == 1
    done = ada.ok("element:transform", {"roomId": room, "elementId": "e", "positionX": 6})
    for app in (plain, asked, eager):
        app.wait_seq(done["seq"])
        assert app.named("element:transforming") == []


@pytest.mark.parametrize(
    "auth, query, field",
    [
        ({"roomId": "x" * 65}, "", "roomId"),
        ({"roomId": "a"}, "?roomId=b", "roomId"),
        ({"name": "\ud800"}, "", "name"),
        ({}, "?userId=%00", "userId"),
        ({}, "?batches=yes", "batches"),
    ],
)
@pytest.mark.parametrize("transports", [WEBSOCKET, POLLING], ids=["websocket", "polling"])
def test_a_bad_handshake_is_refused(single, apps, auth, query, field, transports):
    with pytest.raises(Refused) as refused:
        apps(single.url + query, auth=auth, transports=transports)
    data = refused.value.data
    assert isinstance(data["message"], str) and data["message"]
    assert data["data"]["code"] == "invalid"
    assert data["data"]["field"] == field
