"""The operator's command and the daemons' own."""

import contextlib
import json
import os
import pathlib
import pwd
import re
import signal
import socket
import subprocess
import time

import psycopg
import pytest
import requests

import operators
import pipeline as pipelines
import ports
from conftest import SECRET
from pipeline import Pipeline, eventually, is_alive

STAGES = ["gateway", "coalescer", "committer", "fanout"]
DAEMONS = [f"touchsync-{stage}" for stage in STAGES]


def run(program, *arguments, environment=None):
    return subprocess.run(
        [str(pipelines.PROGRAMS / program), *arguments], capture_output=True, text=True, timeout=30,
        env={**{key: value for key, value in os.environ.items() if not key.startswith("TOUCHSYNC_")}, **(environment or {})},
    )


def test_what_up_says(single):
    assert single.report.keys() >= {"urls", "database", "processes"}
    assert single.urls == [f"http://127.0.0.1:{single.port}"]
    assert [process["stage"] for process in single.report["processes"]].count("gateway") == 1
    assert {process["stage"] for process in single.report["processes"]} == {*STAGES, "monitor"}
    for process in single.report["processes"]:
        assert process.keys() >= {"stage", "name", "pid", "http"}
        assert is_alive(process["pid"])
    assert single.ps()["processes"] == single.report["processes"]
    assert single.rows("select 1") == [(1,)]


def test_two_of_each(double):
    names = [process["name"] for process in double.report["processes"]]
    assert len(set(names)) == 9
    assert double.urls == [f"http://127.0.0.1:{double.port}", f"http://127.0.0.1:{double.port + 1}"]


def test_one_folder_one_pipeline(single):
    done = single.touchsync("up", "--json", "--port", str(ports.free()), "--data", str(single.data), check=False)
    assert done.returncode != 0 and done.stderr
    assert requests.get(single.url + "/healthz", timeout=5).status_code == 200


def test_up_says_who_has_its_port_before_anything_starts(single, tmp_path):
    def refused(*settings, **environment):
        done = single.touchsync(
            "up", "--data", str(tmp_path / "data"), *settings, check=False,
            environment={**single.environment, **environment})
        # As root it says first that the daemons will be root.
        [line] = [line for line in done.stderr.splitlines() if "run as root" not in line]
        assert done.returncode == 1 and not (tmp_path / "data" / "postgres").exists()
        return line

    port = ports.free(2) + 1
    with socket.create_server(("127.0.0.1", port)):
        line = refused("--port", str(port))
        assert f"gateway-1 cannot listen on 127.0.0.1:{port} (--port): python" in line
        assert f"(process {os.getpid()}) listens there" in line
        line = refused("--gateways", "2", "--port", str(port - 1))
        assert f"gateway-2 cannot listen on 127.0.0.1:{port}" in line
    line = refused("--port", str(ports.free()), TOUCHSYNC_ADMIN_PORT=str(ports.free()))
    assert "committer-1 cannot listen" in line and "(--admin-port): fanout-1 is to listen there" in line
    assert f"touchsync-gateway (process {single.processes('gateway')[0]['pid']})" in refused("--port", str(single.port))


def environment(pid):
    """A process's variables, as its start had them."""
    text = pathlib.Path(f"/proc/{pid}/environ").read_text()
    return dict(pair.split("=", 1) for pair in text.split("\0") if "=" in pair)


def test_a_daemon_has_no_secret_of_others(beside):
    secrets = {"TOUCHSYNC_JWT_SECRET": SECRET, "CLOUD_SECRET": "c"}
    with beside(environment={**secrets, "TOUCHSYNC_LOG_LEVEL": "debug"}) as pipeline:
        for process in pipeline.ps()["processes"]:
            variables = environment(process["pid"])
            has = {name for name in secrets if name in variables}
            assert has == ({"TOUCHSYNC_JWT_SECRET"} if process["stage"] == "gateway" else set()), process
            assert ("TOUCHSYNC_DATABASE_URL" in variables) == (process["stage"] in ("committer", "fanout")), process
            assert variables["TOUCHSYNC_LOG_LEVEL"] == "debug" and "PATH" in variables
        token = pipeline.token("ada", ["r"])
        answer = requests.get(f"{pipeline.url}/api/rooms/r", headers={"Authorization": f"Bearer {token}"}, timeout=10)
        assert answer.status_code == 404


def test_ps_without_a_pipeline(single, tmp_path):
    done = single.touchsync("ps", "--json", "--data", str(tmp_path), check=False)
    assert done.returncode != 0 and str(tmp_path) in done.stderr


def test_stopping_leaves_nothing_behind():
    pipeline = Pipeline()
    try:
        pipeline.start()
        pipeline.kill("coalescer")
        assert pipeline.stop() == 0
        assert pipeline.leftovers() == []
    finally:
        pipeline.remove()


def test_the_supervisor_is_killed():
    """Its daemons notice and end by themselves."""
    pipeline = Pipeline()
    try:
        pipeline.start()
        pids = [process["pid"] for process in pipeline.report["processes"]]
        os.kill(pipeline.process.pid, signal.SIGKILL)
        eventually("all daemons ended", lambda: not any(is_alive(pid) for pid in pids), within=20)
        pipeline.process.wait()
        # The folder can be used again, with everything in it.
        pipeline.start()
        assert requests.get(pipeline.url + "/readyz", timeout=5).status_code == 200
    finally:
        pipeline.remove()


@pytest.mark.parametrize("program", DAEMONS)
def test_settings(program, tmp_path):
    arguments = {
        "touchsync-gateway": ["--coalescers", "c=ipc:///tmp/c", "--committers", "w=ipc:///tmp/w", "--fanouts", "f=ipc:///tmp/f"],
        "touchsync-coalescer": ["--bind", "ipc:///tmp/c", "--fanouts", "f=ipc:///tmp/f"],
        "touchsync-committer": ["--bind", "ipc:///tmp/w", "--fanouts", "f=ipc:///tmp/f", "--database-url", "postgresql://x:hunter2@/x"],
        "touchsync-fanout": ["--bind", "ipc:///tmp/f", "--database-url", "postgresql://x:hunter2@/x"],
    }[program]
    done = run(program, *arguments, "--check-config")
    assert done.returncode == 0 and done.stdout.strip() == "ok", done.stderr
    assert "--operator-token is not set, so the admin server shows nothing but health" in done.stderr
    done = run(program, *arguments, "--check-config", environment=operators.ENVIRONMENT)
    assert done.returncode == 0 and not done.stderr
    done = run(program, *arguments, "--print-config", environment=operators.ENVIRONMENT)
    assert operators.TOKEN not in done.stdout
    assert done.returncode == 0 and "log-level" in done.stdout and "hunter2" not in done.stdout
    done = run(program, *arguments, "--log-level", "shout", "--check-config")
    assert done.returncode == 78 and "log-level" in done.stderr and "shout" in done.stderr
    done = run(program, *arguments, "--no-such-setting", "1", "--check-config")
    assert done.returncode == 78 and "no-such-setting" in done.stderr
    done = run(program, "--check-config")
    assert done.returncode == 78 and done.stderr

    # A flag before the environment before the file.
    section = program.removeprefix("touchsync-")
    config = tmp_path / "settings.json"
    config.write_text(json.dumps({section: {"drainTimeoutMs": 1111}}))
    both = [*arguments, "--config", str(config)]
    environment = {"TOUCHSYNC_DRAIN_TIMEOUT_MS": "2222"}
    assert "1111" in run(program, *both, "--print-config").stdout
    assert "2222" in run(program, *both, "--print-config", environment=environment).stdout
    assert "3333" in run(program, *both, "--drain-timeout-ms", "3333", "--print-config", environment=environment).stdout
    config.write_text(json.dumps({section: {"noSuchSetting": 1}}))
    done = run(program, *both, "--check-config")
    assert done.returncode == 78 and "noSuchSetting" in done.stderr


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def identity(pid):
    """The users, groups and rights of a process, as the kernel says."""
    with open(f"/proc/{pid}/status") as status:
        fields = dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)
    return {name: fields[name].split() for name in ("Uid", "Gid", "Groups", "CapEff", "CapPrm", "NoNewPrivs")}


@as_root
def test_daemons_give_up_root():
    """For a user that is named; the pipeline works as before, also after a restart, and so does its own database."""
    nobody = pwd.getpwnam("nobody")
    pipeline = Pipeline("--user", "nobody")
    try:
        pipeline.start()
        for process in pipeline.report["processes"]:
            who = identity(process["pid"])
            assert who["Uid"] == [str(nobody.pw_uid)] * 4 and who["Gid"] == [str(nobody.pw_gid)] * 4, process
            assert "0" not in who["Groups"] and int(who["CapEff"][0], 16) == int(who["CapPrm"][0], 16) == 0, process
            assert who["NoNewPrivs"] == ["1"]
        assert pipeline.metrics("gateway")["process_open_fds"] > 3
        for number, stage in enumerate(("fanout", "committer", "gateway", None)):
            path = f"{pipeline.url}/api/rooms/r/elements"
            done = requests.post(path, json={"type": "note", "id": f"note-{number}"}, timeout=10)
            assert done.json()["ok"], done.text
            if stage:
                pipeline.wait_restarted(pipeline.kill(stage))
    finally:
        pipeline.remove()


@as_root
def test_a_daemon_does_not_run_as_root_by_itself(tmp_path):
    flags = ["--bind", f"ipc://{tmp_path}/f", "--database-url", "postgresql:///none"]
    done = run("touchsync-fanout", *flags)
    assert done.returncode == 78 and "--user: is required when started as root; --allow-root" in done.stderr
    done = run("touchsync-fanout", *flags, "--user", "no-such-user")
    assert done.returncode == 78 and "no-such-user" in done.stderr
    done = run("touchsync-fanout", *flags, "--user", "root")
    assert done.returncode == 78 and "names root itself" in done.stderr
    assert not (tmp_path / "f").exists()


def test_nothing_shows_a_password(single):
    """Neither process lists nor files nor logs nor answers, although it was given on a command line."""
    name = "secretive"
    with psycopg.connect(single.report["database"], autocommit=True) as connection:
        connection.execute(f"create database {name}")
    host = psycopg.conninfo.conninfo_to_dict(single.report["database"])["host"]
    url = f"postgresql://touchsync:hunter2@/{name}?host={host}&password=hunter2"
    pipeline = Pipeline("--database-url", url, "--jwt-secret", "hunter2" * 5)
    try:
        pipeline.start()
        assert "hunter2" in pipeline.report["database"]
        assert "hunter2" not in pipeline.touchsync("ps", "--json", "--data", str(pipeline.data)).stdout
        assert "hunter2" not in pipeline.touchsync("doctor", "--database-url", url, check=False).stdout
        pids = [pipeline.process.pid, *(process["pid"] for process in pipeline.report["processes"])]
        for pid in pids:
            assert "hunter2" not in pathlib.Path(f"/proc/{pid}/cmdline").read_text()
        for process in pipeline.report["processes"]:
            assert "hunter2" not in requests.get(process["http"] + "/readyz", timeout=5).text
        holders = [path for path in pipeline.folder.glob("**/*") if path.is_file() and b"hunter2" in path.read_bytes()]
        assert [path.name for path in holders] == ["database"] and holders[0].stat().st_mode & 0o777 == 0o600
    finally:
        pipeline.remove()


def test_a_connection_string_that_is_wrong_is_not_shown(single, tmp_path):
    for url in ["host=h password='hunter2", "postgresql://u:hunter2%zz@h", "host=h hunter2", "postgresql://u:7/hunter2@h"]:
        for command in (["doctor"], ["migrate"], ["up", "--data", str(tmp_path)]):
            done = single.touchsync(*command, "--database-url", url, check=False)
            assert done.returncode != 0 and "hunter2" not in done.stdout + done.stderr, (command, url)


def test_help(single):
    for program in [*DAEMONS, "touchsync"]:
        done = run(program, "--help")
        assert done.returncode == 0 and done.stdout
        version = run(program, "--version")
        assert version.returncode == 0
        assert re.fullmatch(r"touchsync \S+ \((debug|release)\), wire \d+( to \d+)?, schema \d+\n", version.stdout)


def test_migrating_again_changes_nothing(single):
    before = single.rows("select key, value from meta where key in ('epoch', 'session_key') order by key")
    done = single.touchsync("migrate", "--database-url", single.report["database"])
    assert done.returncode == 0
    assert single.rows("select key, value from meta where key in ('epoch', 'session_key') order by key") == before


def test_migrating_says_how_long_each_migration_took(single, tmp_path):
    def migrated(*options):
        name = f"timed{len(options)}_" + tmp_path.name.replace("-", "_")
        url = psycopg.conninfo.make_conninfo(single.report["database"], dbname=name)
        start = time.monotonic()
        done = single.touchsync("migrate", "--database-url", url, *options)
        return done.stdout, time.monotonic() - start

    text, elapsed = migrated("--json")
    report = json.loads(text)
    seconds = [migration["seconds"] for migration in report["applied"]]
    assert report["created"] and len(seconds) == report["migrations"]
    # The command does more than that, but not much.
    assert all(time > 0 for time in seconds) and elapsed / 50 < sum(seconds) < elapsed
    assert abs(report["seconds"] - sum(seconds)) < 1e-6
    created, *lines = migrated()[0].splitlines()
    starts = [f"applied {migration['version']} {migration['name']} in " for migration in report["applied"]]
    assert created == "created the database"
    for line, start in zip(lines, [*starts, f"{len(starts)} applied in "], strict=True):
        assert line.startswith(start)


def test_a_plan_of_migrations_changes_nothing(single, tmp_path):
    name = "planned_" + tmp_path.name.replace("-", "_")
    url = psycopg.conninfo.make_conninfo(single.report["database"], dbname=name)

    def planned():
        report, text = (single.touchsync("migrate", "--plan", "--database-url", url, *more).stdout for more in (["--json"], []))
        return json.loads(report), text.splitlines()

    report, lines = planned()
    assert report["creates"] and lines[0] == "creates the database"
    assert len(report["pending"]) == len(lines) - 1 == report["migrations"]
    assert not single.rows("select 1 from pg_database where datname = %s", name)
    single.touchsync("migrate", "--database-url", url)
    assert planned()[1] == [f"nothing to do: {report['migrations']} migrations are applied"]


def test_a_migration_waits_for_its_tables_but_keeps_nobody_from_them(single, tmp_path):
    name = "used_" + tmp_path.name.replace("-", "_")
    with psycopg.connect(single.report["database"], autocommit=True) as connection:
        connection.execute(f"create database {name}")
    url = psycopg.conninfo.make_conninfo(single.report["database"], dbname=name)
    command = [str(pipelines.PROGRAMS / "touchsync"), "migrate", "--database-url", url]
    with psycopg.connect(url) as other:
        # Whether there will be this table is not decided yet.
        other.execute("create table meta ()")
        migration = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert migration.stderr.readline() == (
            "touchsync: migration 19 (schema) waits for tables that other transactions use; it is tried again every few "
            "seconds\n")
        assert migration.poll() is None
        other.rollback()
        output, errors = migration.communicate(timeout=30)
        assert migration.returncode == 0 and not errors
        assert output.startswith("applied 19 schema in ")


def test_a_database_of_an_older_version_is_refused(single, tmp_path):
    name = "old_" + tmp_path.name.replace("-", "_")
    with psycopg.connect(single.report["database"], autocommit=True) as connection:
        connection.execute(f"create database {name}")
    url = psycopg.conninfo.make_conninfo(single.report["database"], dbname=name)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create table schema_migrations (version bigint, name text, checksum text)")
        connection.execute("insert into schema_migrations values (17, 'other-authors', '0')")
    for command in (["migrate"], ["up", "--json", "--data", str(tmp_path)]):
        done = single.touchsync(*command, "--database-url", url, check=False)
        assert done.returncode != 0
        assert "has the schema 17" in done.stderr and "touchsync room export" in done.stderr


def test_a_data_folder_of_an_older_version_is_refused(tmp_path):
    pipeline = Pipeline()
    try:
        pipeline.start()
        with psycopg.connect(pipeline.report["database"], autocommit=True) as connection:
            connection.execute("update schema_migrations set version = version - 5")
        pipeline.stop()
        done = pipeline.touchsync("up", "--json", "--data", str(pipeline.data), check=False)
        assert done.returncode != 0
        assert f"move {pipeline.data} away, or name another folder with --data" in done.stderr
    finally:
        pipeline.remove()


def test_a_wrong_setting_of_a_daemon_stops_up(single, tmp_path):
    done = single.touchsync("up", "--json", "--data", str(tmp_path), "--tick-ms", "0", check=False)
    assert done.returncode != 0 and "tick-ms" in done.stderr
    done = single.touchsync("up", "--json", "--data", str(tmp_path), "--no-such-setting", "0", check=False)
    assert done.returncode != 0 and "no-such-setting" in done.stderr


def test_idle_costs_nothing(single):
    """Nobody does anything: all daemons together wake seldom, and none of them works on without sleeping. How long that
    takes is for the benchmarks: it depends on the machine, and on how the daemons were built."""

    def spent():
        """Seconds of CPU, and how often a thread slept until something happened."""
        ticks = wakeups = 0
        for process in single.ps()["processes"]:
            folder = pathlib.Path(f"/proc/{process['pid']}")
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
            for status in folder.glob("task/*/status"):
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended meanwhile
                    wakeups += int(status.read_text().split("\nvoluntary_ctxt_switches:")[1].split()[0])
        return ticks / os.sysconf("SC_CLK_TCK"), wakeups

    def rest():
        before, start = spent(), time.monotonic()
        time.sleep(3)
        cpu, wakeups = ((now - then) / (time.monotonic() - start) for now, then in zip(spent(), before))
        return cpu < 0.1 and wakeups < 150

    # What earlier tests left behind comes to rest within a while. They wake 80 times a second then.
    eventually("they rest", rest, within=60)
