"""A pipeline that somebody else runs: where its gateways, its daemons' pages and its database are, and how apps get in."""

import os
import ssl
import subprocess

from daemons import PROGRAMS
from postgres import Asked
from watched import Watched


class Database(Asked):
    """The server that accepts writes, whichever it is now."""

    has_standby = True

    def __init__(self, conninfo):
        self.conninfo = conninfo
        self.primary = self

    def dsn(self, database="touchsync", name="harness"):
        return f"{self.conninfo} dbname={database} application_name={name}"

    def tail(self):
        return ""

    async def is_synchronous(self):
        """Whoever runs it knows."""


class Daemon:
    """One daemon, whose life is its operator's."""

    starts = 1
    crashes = ()
    is_ready = True

    def __init__(self, name, http):
        self.stage = name.rpartition("-")[0]
        self.name = name
        self.http = http

    def resources(self):
        """They are another machine's."""

    def tail(self, length=0):
        return ""


class Elsewhere(Watched):
    """Takes the place of a cluster, with a folder for what is written down of it. `secret` is what its gateways verify
    tokens with, `certificate` the file that apps trust, `conninfo` how to reach the database. There is nothing yet; `add`
    says what there is."""

    def __init__(self, folder, secret, certificate, conninfo):
        self.folder = folder
        self.secret = secret
        self.tls = ssl.create_default_context(cafile=certificate)
        self.postgres = Database(conninfo)
        self.daemons = {}
        self.proxies = {}
        self.gateways = []
        self.tokens = {}
        # Where each room stood before.
        self.floors = {}

    def add(self, gateways, pages):
        """More addresses of gateways, and the URLs of daemons' pages by name."""
        self.gateways += [tuple(address) for address in gateways]
        self.daemons |= {name: Daemon(name, http) for name, http in pages.items()}

    async def start(self):
        await self.is_ready()
        self.floors = dict(await self.postgres.rows("select room_id, seq from rooms"))

    async def stop(self):
        """Its operator does."""

    def heal(self):
        """Its operator does."""

    def app_addresses(self, through_proxy):
        """Where apps connect; it grows with the gateways."""
        return self.gateways

    def auth(self, user):
        """A token, by the operator's command."""
        if user not in self.tokens:
            self.tokens[user] = subprocess.run(
                [PROGRAMS / "touchsync", "token", "--user", user, "--room", "*", "--right", "commit", "--ttl", "7200"],
                env={**os.environ, "TOUCHSYNC_JWT_SECRET": self.secret}, check=True, capture_output=True, text=True,
            ).stdout.strip()
        return {"token": self.tokens[user]}
