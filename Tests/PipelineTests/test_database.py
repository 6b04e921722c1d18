"""PostgreSQL is the truth: what was acknowledged stands there, once, as it was acknowledged."""

import pytest

from app import burst

GEOMETRY = {
    "type": "type", "positionX": "position_x", "positionY": "position_y", "width": "width", "height": "height",
    "rotation": "rotation", "scaleX": "scale_x", "scaleY": "scale_y",
}


def stored(pipeline, room, element):
    """An element as it is stored, and the number of its last update."""
    (row,) = pipeline.rows("select data, seq from elements where room_id = %s and id = %s", room, element)
    return row


@pytest.mark.parametrize("kind", ["note", "photo", "video", "audio", "text", "sticker"])
def test_the_row_is_the_last_commit_under_the_rules(single, two, room, kind):
    """A gesture from far out of range: previews, then the commit; the row is what the commit was answered with."""
    ada, bob = two
    ada.ok("element:create", {"roomId": room, "element": {"type": kind, "id": "e", "width": 400, "height": 300, "own": "x"}})
    burst(
        (ada, [{"roomId": room, "elementId": "e", "positionX": i, "transform": {"rotation": i}} for i in range(60)]),
        (bob, [{"roomId": room, "elementId": "e", "transform": {"scaleX": i / 10}} for i in range(60)]),
    )
    ada.ok("element:transform", {"roomId": room, "elementId": "e", "transform": {"rotation": 725.5}})
    answer = bob.ok(
        "element:transform",
        {"roomId": room, "elementId": "e", "positionX": 10.5, "positionY": -2e9, "transform": {"scaleX": 77, "scaleY": -3}},
    )
    element = answer["element"]
    assert stored(single, room, "e") == (element, answer["seq"])
    assert element["positionX"] == 11 and element["positionY"] == -1_000_000_000 and element["own"] == "x"
    (shown,) = single.rows(
        f"select {', '.join(GEOMETRY.values())} from element_geometry where room_id = %s and id = 'e'", room)
    assert shown == tuple(element[field] for field in GEOMETRY)


def test_the_log_says_who_did_what(single, two, room):
    ada, bob = two
    sids = {app.user: app.join(room)["sid"] for app in (ada, bob)}
    ada.ok("element:create", {"roomId": room, "n": 1, "element": {"type": "note", "id": "e"}})
    bob.ok("element:transform", {"roomId": room, "n": 1, "elementId": "e", "positionX": 5, "gesture": 4})
    ada.ok("element:update", {"roomId": room, "n": 2, "elementId": "e", "set": {"content": "x"}})
    ada.refused("element:transform", {"roomId": room, "n": 3, "elementId": "none", "positionX": 1}, "not_found")
    ada.ok("elements:create", {"roomId": room, "n": 4, "elements": [{"type": "note", "id": "f"}, {"type": "note", "id": "g"}]})
    bob.ok("element:delete", {"roomId": room, "n": 2, "elementId": "e"})
    log = single.log_rows(room)
    assert [(seq, event, user, n) for seq, event, user, _, n, *_ in log] == [
        (1, "element:created", "ada", 1), (2, "element:transformed", "bob", 1), (3, "element:updated", "ada", 2),
        (4, "elements:created", "ada", 4), (5, "element:deleted", "bob", 2),
    ]
    assert [entry[3] for entry in log] == [sids[user] for user in ("ada", "bob", "ada", "ada", "bob")]
    before, after = log[1][6], log[1][7]
    assert before["positionX"] == 0 and after["positionX"] == 5 and after["rev"] == 2
    assert log[0][6] is None and log[4][7] is None
    assert single.assert_gapless(room) == 5


def test_previews_are_nowhere(single, two, room):
    ada, _ = two
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "e"}})
    burst((ada, [{"roomId": room, "elementId": "e", "positionX": i} for i in range(100)]), hertz=500)
    ada.ok("element:update", {"roomId": room, "elementId": "e", "set": {"x": 1}})
    assert stored(single, room, "e")[0]["positionX"] == 0
    assert single.assert_gapless(room) == 2


def test_shards_have_no_holes(single, two, room):
    ada, _ = two
    for index in range(20):
        ada.join(f"{room}-{index}")
        ada.ok("element:create", {"roomId": f"{room}-{index}", "element": {"type": "note"}})
    single.assert_shards_gapless()
    shards = single.rows("select count(*), min(shard), max(shard) from shards")
    assert shards == [(64, 0, 63)]
