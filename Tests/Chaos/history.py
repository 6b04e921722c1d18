"""What apps did, were told and saw, one JSON line each, in the order in which one process observed it."""

import time

import orjson

FIELDS = ("positionX", "positionY", "width", "height", "rotation", "scaleX", "scaleY")
# The broadcasts as the history calls them.
DELIVERIES = {
    "element:transformed": "transformed", "element:created": "created", "element:updated": "updated",
    "element:deleted": "deleted",
}


def body(element):
    """An element's state as text: equal states, equal text. Empty for a deleted one."""
    if element is None:
        return ""
    return " ".join(f"{element[field]:.10g}" for field in FIELDS)


class History:
    """A file of records, and how many of each kind it holds."""

    def __init__(self, path):
        self.path = path
        self.file = open(path, "wb", buffering=1 << 20)
        self.began = time.monotonic()
        self.counts = {}
        # Up to which number the log of a room need not be whole.
        self.floors = {}

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
        for room, seq, shard, gseq, session, n, element, event, after in await server.rows(
            "select room_id, seq, shard, gseq, session, n, element_id, event, after from commit_log"
            " order by room_id, seq"
        ):
            if seq <= self.floors.get(room, 0):
                continue
            self.add(
                "log", room=room, seq=seq, shard=shard, gseq=gseq, session=session, n=n, element=element,
                event=DELIVERIES.get(event, event), body=body(after),
            )
        for room, seq in await server.rows("select room_id, seq from rooms"):
            self.add("room", room=room, seq=seq, floor=self.floors.get(room, 0))
        for shard, gseq in await server.rows("select shard, gseq from shards"):
            self.add("shard", shard=shard, gseq=gseq)
        columns = "position_x, position_y, width, height, rotation, scale_x, scale_y"
        for room, element, *values in await server.rows(
            f"select room_id, element_id, {columns} from elements where deleted_seq is null"
        ):
            self.add("element", room=room, element=element, body=body(dict(zip(FIELDS, map(float, values)))))

    def close(self):
        self.file.close()


class Forgotten:
    """Takes the records of a run that is over."""

    def add(self, kind, **fields):
        """Keeps nothing."""
