"""What a pool of connections in between does: nothing good, as POSTGRESQL.md says."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import urllib.parse

import pytest

import pipeline as pipelines
import ports
from app import App
from manager import REPOSITORY

SETTINGS = """
[databases]
touchsync = host={host} port={port} dbname={database} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
logfile = {folder}/log
pidfile = {folder}/pid
"""


# They install a program that nothing else needs.
COVERED = pytest.mark.long("LiveConnectionTests show what a session is set up with")


@pytest.fixture(scope="module")
def server():
    """A pipeline with a server of its own."""
    subprocess.run([REPOSITORY / "deploy/install.sh", "pgbouncer"], check=True)
    with pipelines.running() as pipeline:
        yield pipeline


@contextlib.contextmanager
def pooled(server, mode):
    """The URL of an empty database behind pgbouncer."""
    url = urllib.parse.urlsplit(server.own_database(f"pooled_{mode}"))
    query = dict(urllib.parse.parse_qsl(url.query))
    with tempfile.TemporaryDirectory(prefix="touchsync-pool-") as name:
        folder = pathlib.Path(name)
        own = ports.free()
        (folder / "pgbouncer.ini").write_text(SETTINGS.format(
            host=query.get("host") or url.hostname, port=query.get("port") or url.port or 5432,
            database=url.path.strip("/"), user=url.username or query.get("user"), own=own, mode=mode, folder=folder))
        if not os.geteuid():
            subprocess.run(["chown", "-R", "postgres:postgres", folder], check=True)
        user = {"user": "postgres", "group": "postgres", "extra_groups": []} if not os.geteuid() else {}
        pool = subprocess.Popen(
            ["/usr/sbin/pgbouncer", folder / "pgbouncer.ini"], stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, **user)
        try:
            yield f"postgresql://touchsync@127.0.0.1:{own}/touchsync"
        finally:
            pool.send_signal(signal.SIGTERM)
            pool.wait(10)


@COVERED
def test_a_pool_of_sessions_works_and_saves_nothing(server):
    """Each connection of a daemon holds a session of the server for as long as it lives."""
    with pooled(server, "session") as url, pipelines.running("--database-url", url) as pipeline:
        app = App(pipeline.url, "ada").connect()
        app.join("pool")
        assert app.ok("element:create", {"roomId": "pool", "element": {"type": "note", "id": "e"}})["seq"] == 1
        app.close()


@COVERED
def test_a_pool_of_transactions_breaks_what_sessions_prepared(server):
    """Sessions are set up once, with limits and prepared statements; a transaction lands in another session."""
    with pooled(server, "transaction") as url:
        pipeline = pipelines.Pipeline("--database-url", url)

        def complains():
            logs = [path.read_text() for path in pipeline.data.glob("log/*.log")]
            return re.search("prepared statement .* does not exist", "".join(logs))

        try:
            # It may come up, by luck.
            with contextlib.suppress(pipelines.Overdue):
                pipeline.start(within=15)
            pipelines.eventually("a prepared statement is missing", complains)
        finally:
            pipeline.remove()
