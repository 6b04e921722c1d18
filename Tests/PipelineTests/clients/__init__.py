"""Real clients behind one interface; README.md has the table of them."""

from clients.chromium import Chromium
from clients.client import Client, Refused
from clients.javascript import JavaScriptClient
from clients.node import Node
from clients.python import PythonClient
from clients.swift import SwiftClient

TRANSPORTS = {"polling": ["polling"], "websocket": ["websocket"], "upgrade": ["polling", "websocket"]}
FAMILIES = ["python", "node", "chromium", "swift"]
# Every client that every scenario is run with.
KINDS = [f"{family}-{transport}" for family in FAMILIES for transport in TRANSPORTS]

_places = {}


def place(kind):
    """Where JavaScript runs: one Node and one browser for all tests, started when they are first asked for."""
    if kind not in _places:
        _places[kind] = kind()
    return _places[kind]


def close_places():
    """Ends what `place` started."""
    while _places:
        _places.popitem()[1].close()


def make(kind):
    """A client of one of `KINDS`, not connected yet."""
    family, transport = kind.split("-")
    transports = TRANSPORTS[transport]
    if family == "python":
        return PythonClient(transports)
    if family == "swift":
        return SwiftClient(transports)
    return JavaScriptClient(transports, place({"node": Node, "chromium": Chromium}[family]))
