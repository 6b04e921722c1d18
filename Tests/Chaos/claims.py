"""Judges clients by what PostgreSQL holds: what became of each edit, and what was shown meanwhile. `records` are those of
`people.Journal`, in the order in which they were seen."""

import bisect
import collections

from effects import can_be_one, can_be_refused, did, elements_of, is_catch, is_same, merged
from screens import Screen


def judge(records):
    """What is wrong, a sentence each, and how often there was something to judge; `records()` begins with the first record
    whenever it is called."""
    truth = Truth(records())
    edits = Edits(truth)
    for record in records():
        edits.see(record)
    edits.judge()
    screens = {person: Screen(person, truth, edits) for person in edits.people}
    for record in records():
        if record.get("person") in screens:
            screens[record["person"]].see(record)
    faults = truth.faults + edits.faults + [fault for screen in screens.values() for fault in screen.faults]
    return faults, edits.counts + sum((screen.counts for screen in screens.values()), collections.Counter())


class Truth:
    """The rooms as the log makes them."""

    def __init__(self, records):
        self.rows = collections.defaultdict(dict)
        # By room and element: the numbers of its changes, and what it was after each.
        self.versions = collections.defaultdict(lambda: collections.defaultdict(lambda: ([], [])))
        self.elements = collections.defaultdict(dict)
        for record in records:
            if record["kind"] == "row":
                self.rows[record["room"]][record["seq"]] = record
                for name, (_, after) in record["changes"].items():
                    numbers, states = self.versions[record["room"]][name]
                    numbers.append(record["seq"])
                    states.append(after)
            elif record["kind"] == "element":
                self.elements[record["room"]][record["element"]["id"]] = record["element"]
        self.faults = [
            f"{room}: the elements are not what the log makes of them"
            for room in self.rows if self.room(room, max(self.rows[room])) != self.elements[room]
        ]

    def element(self, room, name, seq):
        """What an element was when the room had that number; None when there was none."""
        numbers, states = self.versions[room][name]
        place = bisect.bisect_right(numbers, seq)
        return states[place - 1] if place else None

    def room(self, room, seq):
        states = {name: self.element(room, name, seq) for name in self.versions[room]}
        return {name: state for name, state in states.items() if state is not None}

    def changes(self, room, name, after, seq):
        """The rows that changed an element behind one number and up to another."""
        numbers, _ = self.versions[room][name]
        between = numbers[bisect.bisect_right(numbers, after):bisect.bisect_right(numbers, seq)]
        return [self.rows[room][number] for number in between]


class Edit:
    """One edit, from its beginning to what is known of its end."""

    def __init__(self, record, known):
        self.person, self.run, self.call = record["person"], record["run"], record["call"]
        self.event, self.body = record["event"], record["body"]
        # The highest number that this person knew when it began.
        self.known = known
        self.result = None
        # The runs at whose end the store held it.
        self.saved = set()
        # The number of its row.
        self.seq = None

    def __str__(self):
        return f"{self.person}'s {self.event} {self.body} (call {self.call} of run {self.run})"

    @property
    def elements(self):
        return elements_of(self.body)

    @property
    def is_undo(self):
        return self.event.startswith("history:")

    @property
    def is_applied(self):
        return self.result is not None and self.result["kind"] == "applied"

    @property
    def is_open(self):
        """Whether nobody was told if it took effect."""
        return self.result is None or self.result.get("code") == "forgotten"


class Edits:
    """What became of each edit: one result, and one row of the log or none, as the result says."""

    def __init__(self, truth):
        self.truth = truth
        self.faults = []
        # By person.
        self.rooms, self.people, self.clients = {}, {}, {}
        # By person and call within a run; by person in their order.
        self.calls = {}
        self.all = collections.defaultdict(list)
        self.known = collections.Counter()
        # By person, run and code: refusals that no edit of that run was told of. They are of edits that an earlier run began.
        self.refusals = collections.Counter()
        # The runs that did not end by themselves.
        self.killed = set()

    def see(self, record):
        kind, person, run = record["kind"], record.get("person"), record.get("run")
        if kind == "run":
            self.people[person] = record["user"]
            self.rooms[person] = record["room"]
            self.clients[person] = record["client"]
        elif kind == "edit":
            edit = self.calls[person, run, record["call"]] = Edit(record, self.known[person])
            self.all[person].append(edit)
        elif kind in ("applied", "refused"):
            self._answered(self.calls[person, run, record["call"]], record)
        elif kind == "refusal":
            self.refusals[person, run, record["code"]] += 1
        elif kind == "killed":
            self.killed.add((person, run))
            self._killed(person, run, record["saved"])

    def _answered(self, edit, record):
        if edit.result is not None:
            return self.faults.append(f"two results: {edit}")
        edit.result = record
        if record["kind"] == "refused":
            self.refusals[edit.person, edit.run, record["code"]] -= 1
        else:
            self.known[edit.person] = max(self.known[edit.person], record["seq"])

    def _killed(self, person, run, saved):
        """Which edits the store holds. It may not have noticed yet that some have their results; of equal ones it is those
        without."""
        saved = list(saved)
        for edit in sorted(self.all[person], key=lambda edit: edit.result is not None):
            found = next((item for item in saved if is_same(edit, item)), None)
            if found:
                edit.saved.add(run)
                saved.remove(found)

    def judge(self):
        """When all records were seen."""
        for person in self.people:
            rows = {
                seq: row for seq, row in self.truth.rows[self.rooms[person]].items() if row["user"] == self.people[person]
            }
            self._judge_applied(person, rows)
            self._judge_others(person, rows)
            self._judge_lost(person)

    def _judge_applied(self, person, rows):
        """Each result's number is that of a row that does what was asked; takes those rows away."""
        claims = collections.defaultdict(list)
        for edit in self.all[person]:
            if edit.is_applied and not (edit.is_undo and "undone" not in edit.result):
                claims[edit.result["seq"]].append(edit)
        # What an answer of the history says of an undo is that it has a row; otherwise nothing was left to undo.
        for edit in self.all[person]:
            row = rows.get(edit.result["seq"]) if edit.is_applied else None
            if edit.is_undo and row and edit.result["seq"] not in claims and did(row, edit.event, edit.body):
                claims[edit.result["seq"]].append(edit)
        for seq, edits in claims.items():
            row = rows.pop(seq, None)
            for edit in edits:
                edit.seq = seq
                if seq <= edit.known:
                    self.faults.append(f"applied as {seq}, though {edit.known} was known before it began: {edit}")
            if len(edits) > 1 and not can_be_one(edits):
                self.faults.append(f"one number for several: {' and '.join(map(str, edits))} as {seq}")
            elif row is None:
                self.faults.append(f"applied as {seq}, which is no row of this person: {edits[0]}")
            elif not did(row, edits[-1].event, merged(edits)):
                self.faults.append(f"applied as {seq}, which is something else: {edits[-1]}, but {row}")

    def _judge_others(self, person, rows):
        """What is left is of edits that died without a result, each of which took effect once at most."""
        for seq, row in sorted(rows.items()):
            same = [edit for edit in self.all[person] if did(row, edit.event, edit.body)]
            edit = next((edit for edit in same if edit.is_open and edit.seq is None), None)
            if edit:
                edit.seq = seq
            elif not same:
                self.faults += [] if is_catch(row) else [f"{person} never asked for {row}"]
            elif same[-1].result is not None and same[-1].result["kind"] == "refused":
                self.faults.append(f"refused with {same[-1].result['code']}, but in the log as {seq}: {same[-1]}")
            else:
                self.faults.append(f"took effect more than once, as {same[-1].seq} and {seq}: {same[-1]}")

    def _judge_lost(self, person):
        """A process that lives tells every result; what was saved is applied, or refused in a later run."""
        for edit in self.all[person]:
            if edit.result is not None:
                continue
            if (person, edit.run) not in self.killed:
                self.faults.append(f"no result: {edit}")
            elif edit.seq is not None:
                continue
            # That nothing was left to undo leaves no trace.
            elif edit.saved and not (edit.is_undo or self._was_superseded(edit) or self._was_refused(edit)):
                self.faults.append(f"was saved, but neither applied nor refused: {edit}")

    @property
    def counts(self):
        """What became of edits whose process died before their result."""
        counts = collections.Counter()
        for edit in (edit for edits in self.all.values() for edit in edits if edit.result is None):
            saved, applied = "saved" if edit.saved else "not saved", "applied" if edit.seq is not None else "not applied"
            counts[f"{self.clients[edit.person]}.{saved} and {applied}"] += 1
        return counts

    def _was_superseded(self, edit):
        """Whether it may have become one with a transform of a later run."""
        return any(
            other.run > edit.run and other.seq is not None and can_be_one([edit, other]) for other in self.all[edit.person]
        )

    def _was_refused(self, edit):
        """Takes one of the refusals that later runs told of, without saying of what."""
        later = [
            refusal for refusal, count in self.refusals.items()
            if count > 0 and refusal[0] == edit.person and refusal[1] > edit.run and can_be_refused(edit.event, refusal[2])
        ]
        self.refusals.subtract(later[:1])
        return bool(later)
