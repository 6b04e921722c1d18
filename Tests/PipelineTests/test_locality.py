"""What a room needs of the database lies in its shard: what a fleet of databases rests on, and any that is distributed."""

import collections
import itertools

import psycopg

from app import App
from pipeline import running
from test_history import read

TABLES = ["elements", "commit_log", "sessions", "refusals", "session_floors", "undo_stacks"]


def rooms_of_two_shards(database):
    """The names of all rooms, by those of the fullest shard and the others."""
    with psycopg.connect(database) as connection:
        shards = dict(connection.execute("select room_id, shard from rooms").fetchall())
    shard, _ = collections.Counter(shards.values()).most_common(1)[0]
    return shard, *([room for room in shards if (shards[room] == shard) == kept] for kept in (True, False))


def forget_all_but(database, shard):
    """Deletes every row of other shards, and sets those back to what they are in a new database."""
    with psycopg.connect(database) as connection:
        gone = 0
        for table in TABLES:
            gone += connection.execute(
                f"delete from {table} where room_id in (select room_id from rooms where shard <> %s)", [shard]).rowcount
        connection.execute("delete from rooms where shard <> %s", [shard])
        connection.execute("update shards set version = 0, gseq = 0, chain = 0 where shard <> %s", [shard])
        columns = connection.execute(
            "select table_name from information_schema.columns join information_schema.tables using (table_schema, table_name)"
            " where table_schema = 'public' and table_type = 'BASE TABLE' and column_name = 'room_id'"
            " and table_name not like 'commit_log_%'").fetchall()
    assert {name for (name,) in columns} == {*TABLES, "rooms"}, "a table of rooms is not looked at here"
    return gone


class Visit:
    """What one user did in a room, and what it was told."""

    def __init__(self, app, room):
        self.app, self.room = app, room
        self.session = app.join(room)["session"]
        self.numbers = itertools.count(1)
        self.commit("elements:create", elements=[{"type": "photo", "id": "p"}, {"type": "note", "id": "n"}])
        self.commit("element:transform", elementId="p", positionX=7)
        self.app.refused(
            "element:transform",
            {"roomId": room, "n": next(self.numbers), "elementId": "none", "positionX": 1}, "not_found")
        self.last = {"elementId": "n", "set": {"content": "x"}, "n": next(self.numbers)}
        self.answer = self.app.ok("element:update", {"roomId": room, **self.last})

    def commit(self, event, **more):
        return self.app.ok(event, {"roomId": self.room, "n": next(self.numbers), **more})


def by_id(joined):
    return {element["id"]: element for element in joined["elements"]}


def test_rooms_of_a_shard_need_no_row_of_another(single):
    database = single.own_database("locality")
    with running("--database-url", database) as pipeline:
        app = App(pipeline.url, "ada").connect()
        visits = {room: Visit(app, room) for room in (f"room-{number * number}" for number in range(20))}
        shard, kept, others = rooms_of_two_shards(database)
        assert len(kept) >= 2 and others
        shown = {room: app.join(room) for room in kept}
        pages = {room: read(pipeline, room, limit=10) for room in kept}
        app.close()
    assert forget_all_but(database, shard) > 0
    with running("--database-url", database) as pipeline:
        app = App(pipeline.url, "ada").connect()
        for room in kept:
            visit, before = visits[room], shown[room]
            resumed = app.join(room, session=visit.session, resume={"epoch": before["epoch"], "seq": 1})
            assert resumed["recovered"] is True and [update["seq"] for update in resumed["updates"]] == [2, 3]
            assert resumed["n"] == 4
            assert by_id(app.join(room, session=visit.session)) == by_id(before)
            repeated = app.ok("element:update", {"roomId": room, **visit.last})
            assert repeated["duplicate"] is True and repeated["seq"] == visit.answer["seq"]
            refused = {"roomId": room, "n": 3, "elementId": "none", "positionX": 1}
            app.refused("element:transform", refused, "not_found")
            assert read(pipeline, room, limit=10) == pages[room]
            assert app.ok("history:undo", {"roomId": room, "n": 5})["undone"]["seq"] == visit.answer["seq"]
            assert app.ok("element:create", {"roomId": room, "n": 6, "element": {"type": "note"}})["seq"] == 5
        assert app.join(others[0])["seq"] == 0
        app.close()
