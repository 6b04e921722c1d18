"""What apps did, were told and saw, one JSON line each, in the order in which one process observed it."""

import re
import time

import orjson

# What a request determines of an element, and what else is compared.
GEOMETRY = ("positionX", "positionY", "width", "height", "rotation", "scaleX", "scaleY")
OTHERS = (
    "type", "originalWidth", "originalHeight", "anchorX", "anchorY", "createdBy", "updatedBy", "rev", "zIndex",
    "parentId",
)
# Of the geometry of a group's elements, what an element need not have.
OPTIONAL = ("positionZ", "rotationX", "rotationY", "perspective", "opacity", "motion")
# What apps here add to an element of their own.
OWN = ("content",)
# The broadcasts as the history calls them.
DELIVERIES = {
    "element:transformed": "transformed", "element:created": "created", "element:updated": "updated",
    "element:deleted": "deleted", "elements:created": "several created", "elements:transformed": "several transformed",
    "elements:updated": "updated", "elements:changed": "changed",
}


def geometry(element):
    """An element's geometry as text."""
    return " ".join(map(_text, (element.get(field) for field in GEOMETRY)))


def body(element):
    """An element's state as the text of a JSON object: equal states, equal text. Empty for a deleted one."""
    if element is None:
        return ""
    names = (*GEOMETRY, *OTHERS, *OPTIONAL, "animation", *OWN)
    fields = {name: _text(element[name]) for name in names if element.get(name) is not None}
    return orjson.dumps(fields).decode()


def box(preview, element):
    """The field of a preview that says where on the canvas it shows an element: the sides of a box that contains it
    whatever its anchor and rotation are. None unless that is certain."""
    transform = preview.get("transform") or {}
    x, y, horizontal, vertical = (
        preview.get("positionX"), preview.get("positionY"), transform.get("scaleX"), transform.get("scaleY"),
    )
    if element is None or "parentId" in element or None in (x, y, horizontal, vertical):
        return {}
    reach = abs(horizontal) * element["originalWidth"] + abs(vertical) * element["originalHeight"]
    return {"box": [x - reach, y - reach, x + reach, y + reach]}


def point(cursor):
    """A cursor as text; empty when it is hidden or there is none."""
    return "" if cursor is None or cursor["x"] is None else f"{cursor['x']:.10g} {cursor['y']:.10g}"


def bodies(elements):
    """The states of several by id."""
    return {name: body(element) for name, element in elements.items()}


def geometries(elements):
    """The geometry of several by id."""
    return {element["id"]: geometry(element) for element in elements}


def _text(value):
    if value is None:
        return "-"
    if isinstance(value, dict):
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    return value if isinstance(value, str) else f"{value:.10g}"


def changed(before, after):
    """The fields of a row of the log that say what it changed."""
    old, new = by_id(before), by_id(after)
    elements = {**{name: None for name in old}, **new}
    parents = {name: element["parentId"] for name, element in {**old, **new}.items() if "parentId" in element}
    return {"elements": bodies(elements), "geometry": geometries(new.values()), "parents": parents}


def by_id(value):
    """The elements of a column of the log: one, several or none."""
    elements = value if isinstance(value, list) else [value] if value else []
    return {element["id"]: element for element in elements}


def undone(user, cause, entry):
    """The fields of a row of the log that say whose it is and what it undid."""
    if cause is None:
        return {"user": user}
    return {"user": user, "cause": cause, "undone": entry["seq"], "value": entry["skipped"]}


class History:
    """A file of records, and how many of each kind it holds."""

    def __init__(self, path):
        self.path = path
        self.file = open(path, "wb", buffering=1 << 20)
        self.began = time.monotonic()
        self.counts = {}
        # Up to which number the log of a room need not be whole.
        self.floors = {}
        # Users whose requests are recorded and judged elsewhere: a dot in their sessions' names says so.
        self.unrecorded = set()

    def begin_anew(self, floors):
        """Forgets everything; rooms begin at their floors."""
        self.file.seek(0)
        self.file.truncate()
        self.counts = {}
        self.floors = floors

    def add(self, kind, **fields):
        self.counts[kind] = self.counts.get(kind, 0) + 1
        now = round((time.monotonic() - self.began) * 1000, 3)
        self.file.write(orjson.dumps({"kind": kind, "time": now, **fields}) + b"\n")

    async def dump(self, server):
        """The truth at the end, from PostgreSQL."""
        async for room, seq, shard, gseq, session, n, event, before, after, user, cause, entry in server.each(
            "select room_id, seq, shard, gseq, session, n, event, before, after, user_id, cause, undone"
            " from commit_log order by room_id, seq"
        ):
            if seq <= self.floors.get(room, 0):
                continue
            if user in self.unrecorded:
                session += ".elsewhere"
            self.add(
                "log", room=room, seq=seq, shard=shard, gseq=gseq, session=session, n=n,
                event=DELIVERIES.get(event, event), **changed(before, after), **undone(user, cause, entry),
            )
        for room, seq in await server.rows("select room_id, seq from rooms"):
            self.add("room", room=room, seq=seq, floor=self.floors.get(room, 0))
        for shard, gseq in await server.rows("select shard, gseq from shards"):
            self.add("shard", shard=shard, gseq=gseq)
        for room, name, element in await server.rows("select room_id, id, data from elements where deleted_seq is null"):
            parent = {"parent": element["parentId"]} if element.get("parentId") else {}
            self.add("element", room=room, element=name, body=body(element), **parent)

    def close(self):
        self.file.close()


class Forgotten:
    """Takes the records of a run that is over."""

    unrecorded = frozenset()

    def add(self, kind, **fields):
        """Keeps nothing."""
