"""PostgreSQL is the truth: what was acknowledged stands there, once, as it was acknowledged."""

import json

import psycopg
import pytest

from app import burst

COLUMNS = {
    "positionX": "position_x", "positionY": "position_y", "width": "width", "height": "height", "rotation": "rotation",
    "scaleX": "scale_x", "scaleY": "scale_y", "originalWidth": "original_width", "originalHeight": "original_height",
    "anchorX": "anchor_x", "anchorY": "anchor_y", "createdBy": "created_by", "updatedBy": "updated_by", "rev": "rev",
    "type": "type",
}


def row(pipeline, room, element):
    """An element's row as {field: value}."""
    query = f"select {', '.join(COLUMNS.values())}, seq, extra from elements where room_id = %s and element_id = %s"
    rows = pipeline.rows(query, room, element)
    assert len(rows) == 1, rows
    values = dict(zip([*COLUMNS, "seq", "extra"], rows[0]))
    return {key: float(value) if hasattr(value, "as_tuple") else value for key, value in values.items()}


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
    stored = row(single, room, "e")
    for field in COLUMNS:
        assert stored[field] == element[field], (field, stored, element)
    assert stored["seq"] == answer["seq"] and stored["positionX"] == 11 and stored["positionY"] == -1_000_000_000
    extra = stored["extra"] if isinstance(stored["extra"], dict) else json.loads(stored["extra"])
    assert extra == {"own": "x"}


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


def test_the_tables_refuse_what_the_rules_would(single, two, room):
    """The last line: not even a faulty daemon could store such numbers."""
    ada, _ = two
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "e"}})
    for column, value in [
        ("rotation", "360"), ("rotation", "-1"), ("rotation", "'NaN'"), ("scale_x", "'Infinity'"), ("scale_y", "'NaN'"),
        ("position_x", "2e9"), ("rev", "0"),
    ]:
        with pytest.raises(psycopg.errors.CheckViolation):
            single.rows(f"update elements set {column} = {value} where room_id = %s returning 1", room)


def test_previews_are_nowhere(single, two, room):
    ada, _ = two
    ada.ok("element:create", {"roomId": room, "element": {"type": "note", "id": "e"}})
    burst((ada, [{"roomId": room, "elementId": "e", "positionX": i} for i in range(100)]), hertz=500)
    ada.ok("element:update", {"roomId": room, "elementId": "e", "set": {"x": 1}})
    assert row(single, room, "e")["positionX"] == 0
    assert single.assert_gapless(room) == 2


def test_shards_have_no_holes(single, two, room):
    ada, _ = two
    for index in range(20):
        ada.join(f"{room}-{index}")
        ada.ok("element:create", {"roomId": f"{room}-{index}", "element": {"type": "note"}})
    single.assert_shards_gapless()
    shards = single.rows("select count(*), min(shard), max(shard) from shards")
    assert shards == [(64, 0, 63)]
