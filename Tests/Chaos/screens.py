"""Judges what one client showed, look by look."""

import collections

from effects import elements_of, is_catch

# What a client knows of its own edit before the server has told the rest.
PREDICTED = (
    "id", "type", "positionX", "positionY", "width", "height", "rotation", "scaleX", "scaleY", "originalWidth",
    "originalHeight", "anchorX", "anchorY", "content", "zIndex", "parentId",
)


class Screen:
    """What one client showed, look by look."""

    def __init__(self, person, truth, edits):
        self.person = person
        self.truth = truth
        self.edits = edits
        self.room = edits.rooms[person]
        self.faults = []
        self.counts = collections.Counter()
        # The numbers of rows that are this person's edits.
        self.own = {edit.seq for edit in edits.all[person] if edit.seq is not None and not edit.is_undo}
        # Each element's last result in the runs before: a room that is behind it is shown with that edit or without it,
        # as the store still had it or not when the process died.
        self.before, self.latest = {}, {}
        # The rows by which this person's fingers caught what flew, and by element the number of the one that the last touch
        # may have led to: until it is reached, the client may show where that is. The newest first.
        self.catches = [
            row for seq, row in sorted(truth.rows[self.room].items(), reverse=True)
            if row["user"] == edits.people[person] and seq not in self.own and is_catch(row)
        ]
        self.caught = {}
        self.reached = 0
        self.begin(0)

    def begin(self, run):
        self.run = run
        self.before |= {name: max(seq, self.before.get(name, 0)) for name, seq in self.latest.items()}
        self.seq = 0
        # Edits under way by call, elements under fingers by gesture, and each element's last result.
        self.under_way, self.touched, self.latest = {}, {}, {}
        # What was under way at some time since this look was asked for.
        self.unsure = set()
        # Elements of edits that the run before left, and whose result nobody was told: it may lie ahead of the room.
        self.untold = set()
        # What the run before left in the store: it lies on top as long as the client says that something waits.
        self.restored = [edit for edit in self.edits.all[self.person] if run - 1 in edit.saved]

    def see(self, record):
        kind = record["kind"]
        if kind == "run":
            self.begin(record["run"])
        elif kind == "edit":
            self.under_way[record["call"]] = elements_of(record["body"])
        elif kind == "applied":
            self._applied(self.edits.calls[self.person, record["run"], record["call"]], record["seq"])
        elif kind == "refused":
            self.unsure |= set(self.under_way.pop(record["call"], []))
        elif kind == "asked":
            self.unsure = set()
        elif kind == "touched":
            self.touched[record["gesture"]] = record["ids"]
            for row in self.catches:
                if row["seq"] > self.reached:
                    self.caught |= dict.fromkeys(row["changes"].keys() & set(record["ids"]), row["seq"])
        elif kind == "lifted":
            self.unsure |= set(self.touched.pop(record["gesture"], []))
        elif kind in ("look", "last"):
            self._look(record)

    def _applied(self, edit, seq):
        self.unsure |= set(self.under_way.pop(edit.call, []))
        # An undo is shown when the room's stream brings it.
        if not edit.is_undo:
            self.latest |= {name: max(seq, self.latest.get(name, 0)) for name in edit.elements}

    def _look(self, record):
        seq, shown = record["seq"], record["elements"]
        where = f"{self.person}, run {self.run}, at {seq}"
        if seq < self.seq:
            self.faults.append(f"{where}: it was at {self.seq} before")
        self.seq, self.reached = seq, max(seq, self.reached)
        if record["kind"] == "last":
            return self._look_for_the_last_time(record, where)
        if seq == 0:
            # Before the room is there, what was saved is shown, perhaps with what got its result as the process died. Before
            # the store is open, nothing is, and nothing seems to wait.
            return
        if self.restored and record["pending"] == 0:
            for edit in self.restored:
                self._applied(edit, edit.seq or 0)
                self.untold |= set() if edit.seq else set(edit.elements)
            self.restored = []
        busy = {name for names in [*self.under_way.values(), *self.touched.values()] for name in names}
        busy |= {name for edit in self.restored for name in edit.elements} | self.unsure | self.untold
        busy |= {name for name, result in self.before.items() if result > seq}
        busy |= {name for name, number in self.caught.items() if number > seq}
        stored = self.truth.room(self.room, seq)
        for name in {**stored, **shown}:
            if name not in busy:
                self._compare(name, shown.get(name), stored.get(name), seq, where)

    def _compare(self, name, shown, stored, seq, where):
        latest = self.latest.get(name, 0)
        shown_as = "shown" if latest <= seq else "shown before it is confirmed"
        self.counts[f"{self.edits.clients[self.person]}.{shown_as}"] += 1
        if latest <= seq:
            if shown != stored:
                self.faults.append(f"{where}: {name} is shown as {shown} instead of {stored}")
            return
        # Its result came before the room's stream reached it: what is shown is what the result says. What others did
        # meanwhile may be missing.
        if any(row["seq"] not in self.own for row in self.truth.changes(self.room, name, seq, latest)):
            return
        wanted = self.truth.element(self.room, name, latest)
        if predicted(shown) != predicted(wanted):
            self.faults.append(f"{where}: {name} is back at {shown} after its result as {latest}, {wanted}")

    def _look_for_the_last_time(self, record, where):
        end = max(self.truth.rows[self.room], default=0)
        if (record["state"], record["pending"], record["seq"]) != ("live", 0, end):
            self.faults.append(f"{where}: {record['state']} with {record['pending']} pending; the room ends at {end}")
        stored, shown = self.truth.elements[self.room], record["elements"]
        for name in {**stored, **shown}:
            if stored.get(name) != shown.get(name):
                self.faults.append(f"{where}: at the end {name} is shown as {shown.get(name)}, not {stored.get(name)}")


def predicted(element):
    return element and {name: element.get(name) for name in PREDICTED}
