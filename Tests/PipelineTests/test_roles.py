"""Two roles in the database: an owner that migrates, and one without DDL, which the daemons connect as."""

import re

import psycopg
import pytest
import requests

from app import App
from pipeline import Pipeline, eventually
from test_operator import run


class Roles:
    """A database of its own on another pipeline's server, with an owner that is no superuser, and a runtime role."""

    def __init__(self, base, name):
        self.name = name
        self.owner, self.runtime = f"{name}_owner", f"{name}_runtime"
        self.server = base.report["database"]
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(f"create role {self.owner} login")
            connection.execute(f"create role {self.runtime} login")
            connection.execute(f"create database {name} owner {self.owner}")

    def url(self, user):
        return psycopg.conninfo.make_conninfo(self.server, dbname=self.name, user=user)

    def execute(self, user, statement):
        with psycopg.connect(self.url(user), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def migrate(self, *arguments):
        done = run("touchsync", "migrate", *arguments, environment={"DATABASE_URL": self.url(self.owner)})
        assert done.returncode == 0, done.stderr
        return done.stdout

    def drop(self):
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(f"drop database {self.name} with (force)")
            for role in (self.runtime, self.owner):
                connection.execute(f"drop role {role}")


@pytest.fixture(scope="module")
def roles(single):
    made = Roles(single, "restricted")
    told = made.migrate("--runtime-role", made.runtime)
    assert "the role restricted_runtime has the rights of daemons" in told
    assert re.search(r"^applied 19 \w+ in [\d.]+ (ms|s)$", told, re.MULTILINE), told
    assert re.search(r"^\d+ applied in [\d.]+ (ms|s)$", told, re.MULTILINE), told
    yield made
    made.drop()


@pytest.fixture(scope="module")
def restricted(roles):
    """A pipeline whose daemons connect as the runtime role and migrate nothing."""
    pipeline = Pipeline("--migrate=false", "--undo-depth=5", environment={"DATABASE_URL": roles.url(roles.runtime)})
    try:
        yield pipeline.start()
    finally:
        pipeline.remove()


def test_everything_works_without_ddl(restricted, roles, apps):
    ada, bob = apps(restricted.url, "ada"), apps(restricted.url, "bob")
    joined = ada.join("r")
    bob.join("r")
    ada.ok("element:create", {"roomId": "r", "element": {"type": "note", "id": "a"}, "n": 1})
    assert ada.ok("element:create", {"roomId": "r", "element": {"type": "note", "id": "a"}, "n": 1})["duplicate"]
    ada.refused("element:create", {"roomId": "r", "element": {"type": "note", "id": "a"}, "n": 2}, "conflict")
    ada.send("element:transforming", {"roomId": "r", "elementId": "a", "transform": {"rotation": 5}})
    bob.wait("element:transforming")
    ada.ok("element:transform", {"roomId": "r", "elementId": "a", "positionX": 7, "n": 3})
    assert ada.ok("history:undo", {"roomId": "r", "n": 4})["undone"]["event"] == "element:transformed"
    assert ada.ok("history:redo", {"roomId": "r", "n": 5})["undone"]["event"] == "elements:transformed"
    last = bob.ok("element:delete", {"roomId": "r", "elementId": "a"})["seq"]
    ada.wait_seq(last)

    # A session that is taken over, what was missed, and the room as another fan-out reads it.
    ada.close()
    again = apps(restricted.url, "ada")
    resumed = again.join("r", session=joined["session"], resume={"epoch": joined["epoch"], "seq": 1})
    assert resumed["recovered"] and resumed["n"] == 5 and len(resumed["updates"]) == last - 1
    restricted.wait_restarted(restricted.kill("fanout"))
    eventually("the room is read again", lambda: App(restricted.url, "late").connect().join("r")["seq"] == last)

    answer = requests.post(
        f"{restricted.url}/api/rooms/r/elements", json={"type": "note", "id": "b"}, timeout=10,
        headers={"Idempotency-Key": "k"},
    )
    assert answer.json()["ok"], answer.text
    history = requests.get(f"{restricted.url}/api/rooms/r/history", timeout=10).json()
    assert [entry["seq"] for entry in history["entries"]] == list(range(1, last + 2))
    for command in (["export", "r"], ["delete", "r", "--yes"]):
        run_on = {"DATABASE_URL": roles.url(roles.runtime)}
        assert run("touchsync", "room", *command, environment=run_on).returncode == 0

    # The upkeep made the log's next days and noted the history; a restarted committer finds both in order.
    assert roles.execute(roles.owner, "select count(*) from log_partitions()") == [(4,)]
    assert roles.execute(roles.owner, "select count(*) from history where system is not null") == [(1,)]
    restricted.wait_restarted(restricted.kill("committer"))
    again.ok("element:create", {"roomId": "r", "element": {"type": "note", "id": "c"}, "n": 6})
    assert restricted.metrics("committer")["touchsync_committer_upkeep_failures_total"] == 0


@pytest.mark.parametrize("statement", [
    "create table mine (x int)", "create schema mine", "create function mine() returns int language sql as 'select 1'",
    "drop table elements", "drop table commit_log_first", "drop function commit_batch", "truncate elements",
    "truncate commit_log", "alter table elements add column x int", "alter function keep_log security invoker",
    "delete from elements", "delete from commit_log", "delete from rooms", "delete from meta", "delete from shards",
    "update commit_log set user_id = 'eve'", "update meta set key = 'x'", "insert into shards (shard) values (1)",
    "insert into schema_migrations values (99, 'x', 'x')", "select maintain_log(0)", "select grant_runtime('postgres')",
    "select rolpassword from pg_authid", "select * from others", "copy elements to program 'true'",
])
def test_the_runtime_role_can_do_nothing_else(restricted, roles, statement):
    if "others" in statement:
        roles.execute(roles.owner, "create table others (secret text)")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        roles.execute(roles.runtime, statement)


def test_the_log_is_kept_by_the_owners_rights_and_its_tables_alone(roles):
    """Objects of the caller, in whatever search path, do not take the place of the log's."""
    with psycopg.connect(roles.url(roles.runtime), autocommit=True) as connection:
        connection.execute("create temp table commit_log_rest (at timestamptz)")
        connection.execute("create function pg_temp.maintain_log(integer) returns text language sql as 'select ''mine'''")
        connection.execute("set search_path = pg_temp, public")
        assert connection.execute("select public.keep_log(7)").fetchone() == (None,)
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            connection.execute("select public.keep_log(0)")


def test_only_another_role_than_the_owner_can_be_the_runtime_role(roles):
    for role, reason in ((roles.owner, "owns the tables"), ("no_such_role", "there is no role no_such_role")):
        done = run("touchsync", "migrate", "--runtime-role", role, environment={"DATABASE_URL": roles.url(roles.owner)})
        assert done.returncode == 1 and reason in done.stderr, done.stderr


def test_a_committer_that_may_not_migrate_does_not_start_on_an_old_schema(single, tmp_path):
    roles = Roles(single, "outdated")
    try:
        done = run(
            "touchsync-committer", "--allow-root", "--bind", f"ipc://{tmp_path}/c.sock", "--migrate=false",
            environment={"DATABASE_URL": roles.url(roles.owner)},
        )
        assert done.returncode == 1 and "schema is too old" in done.stderr and "touchsync migrate" in done.stderr
    finally:
        roles.drop()


def test_the_doctor_warns_of_daemons_that_own_the_tables(single, roles):
    def finding(url):
        text = single.touchsync("doctor", "--database-url", url, check=False).stdout
        return next(line for line in text.splitlines() if " role " in line)

    assert finding(single.report["database"]).startswith("warn") and "superuser" in finding(single.report["database"])
    assert finding(roles.url(roles.owner)).startswith("warn") and "owns the tables" in finding(roles.url(roles.owner))
    assert finding(roles.url(roles.runtime)).startswith("ok")
