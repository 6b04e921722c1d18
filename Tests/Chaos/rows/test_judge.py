"""The judge is judged: the history of a real run, spoilt in the ways in which a broken pipeline would spoil it."""

import asyncio
import copy
import re
import signal

import orjson
import pytest
import uvloop

from cluster import temporary_folder
from conftest import acknowledged
from scene import judge, running

pytestmark = pytest.mark.long("InvariantTests spoil made histories in the same ways")


@pytest.fixture(scope="module")
def recorded():
    """The records of a run in which daemons died, and the folder that they lie in."""

    async def play(folder):
        async with running(folder, 11, 20, 0.1, looks=True) as world:
            await acknowledged(world, 150)
            world.cluster.of("committer")[0].send(signal.SIGKILL)
            world.cluster.of("gateway")[1].send(signal.SIGKILL)
            await acknowledged(world, 150)
            await world.until("previews are seen", lambda: world.counts["previews"] > 100, 20)
            await asyncio.sleep(1)

    with temporary_folder() as folder:
        uvloop.run(play(folder))
        with open(folder / "history.jsonl", "rb") as history:
            yield [orjson.loads(line) for line in history], folder


def violated(records, folder):
    """The names of the invariants that the checker finds violated."""
    path = folder / "spoilt.jsonl"
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    code, words = judge(path)
    assert code in (0, 1), words
    names = set(re.findall(r"^(I\d+) .*violations [1-9]", words, re.MULTILINE))
    assert bool(names) == (code == 1), words
    # Shown when a test fails.
    print(words)
    return names


def test_the_run_itself_is_good(recorded):
    assert violated(*recorded) == set()


# Ways to spoil a history. Each gets a copy of the records.


def of(records, kind, condition=lambda record: True):
    """The places of records of a kind."""
    return [place for place, record in enumerate(records) if record["kind"] == kind and condition(record)]


def middle(places):
    assert places, "the run has none of these"
    return places[len(places) // 2]


def an_acknowledged_commit_is_not_written(records):
    acked = {(r["room"], r["session"], r["n"]) for r in records if r["kind"] == "ok"}
    del records[middle(of(records, "log", lambda r: (r["room"], r["session"], r["n"]) in acked))]


def a_commit_is_written_twice(records):
    row = dict(records[middle(of(records, "log"))])
    for record in records:
        if record["kind"] == "room" and record["room"] == row["room"]:
            record["seq"] = row["seq"] = record["seq"] + 1
        if record["kind"] == "shard" and record["shard"] == row["shard"]:
            record["gseq"] = row["gseq"] = record["gseq"] + 1
    records.append(row)


def a_refused_commit_is_written(records):
    place = middle(of(records, "ok"))
    records[place] = {
        **{name: records[place][name] for name in ("time", "client", "room", "session", "n")}, "kind": "refused",
        "code": "invalid", "final": True,
    }


def an_acknowledgement_has_another_number(records):
    records[middle(of(records, "ok"))]["seq"] += 1


def an_acknowledgement_has_another_state(records):
    place = middle(of(records, "ok", lambda r: any(r.get("elements", {}).values())))
    records[place]["elements"] = {name: state + "1" for name, state in records[place]["elements"].items()}


def a_number_is_left_out(records):
    row = records[middle(of(records, "log"))]
    for record in records:
        if record["kind"] in ("log", "ok", "deliver", "room") and record["room"] == row["room"]:
            record["seq"] += record["seq"] >= row["seq"]


def an_element_is_not_as_the_log_has_it(records):
    records[middle(of(records, "element"))]["body"] += "1"


def an_update_is_delivered_twice(records):
    place = middle(of(records, "deliver"))
    records.insert(place + 1, dict(records[place]))


def an_update_is_not_delivered(records):
    del records[middle(of(records, "deliver"))]


def updates_are_delivered_out_of_order(records):
    place = middle(of(records, "deliver"))
    first = records[place]
    after = [p for p in of(records, "deliver", lambda r: r["client"] == first["client"]) if p > place]
    records[place], records[after[0]] = records[after[0]], records[place]


def the_last_update_is_not_delivered(records):
    last = max(record["seq"] for record in records if record["kind"] == "room" and record["room"] == "room-0")
    del records[of(records, "deliver", lambda r: r["room"] == "room-0" and r["seq"] == last)[0]]


def an_update_says_something_else(records):
    place = middle(of(records, "deliver", lambda r: any(r["elements"].values())))
    records[place]["elements"] = {name: state + "1" for name, state in records[place]["elements"].items()}


def commits_of_a_session_change_places(records):
    rows = of(records, "log")
    for first in rows:
        one = records[first]
        for second in rows:
            other = records[second]
            same = all(one[name] == other[name] for name in ("room", "session"))
            if same and other["n"] == one["n"] + 1:
                one["n"], other["n"] = other["n"], one["n"]
                return


def a_later_commit_gets_an_earlier_number(records):
    acks = {(r["room"], r["seq"]): place for place, r in enumerate(records) if r["kind"] == "ok"}
    for (room, seq), place in sorted(acks.items()):
        after = acks.get((room, seq + 1))
        if after is None or records[place]["client"] == records[after]["client"]:
            continue
        key = {name: records[place][name] for name in ("room", "session", "n")}
        asked = of(records, "invoke", lambda r: all(r[name] == key[name] for name in key))[0]
        # Asked for and answered only after the next one was acknowledged.
        moved = [records[asked], records[place]]
        end = records[after]
        for record in moved:
            records.remove(record)
        at = records.index(end) + 1
        records[at:at] = [{**record, "time": end["time"]} for record in moved]
        return


def a_commit_is_never_answered(records):
    del records[middle(of(records, "ok"))]


def a_preview_is_not_sent(records):
    records[middle(of(records, "preview"))]["gesture"] += 1000


def a_preview_comes_back(records):
    place = middle(of(records, "preview"))
    records.insert(place + 1, {**records[place], "client": records[place]["sender"]})


def a_preview_comes_after_its_commit(records):
    ended = {
        (r["room"], r["session"], r["n"]): (r["client"], r["targets"][0], r["gesture"])
        for r in records if r["kind"] == "invoke" and r.get("gesture")
    }
    seen = {}
    for place, record in enumerate(records):
        if record["kind"] == "preview":
            seen[record["client"], record["sender"], record["element"], record["gesture"]] = record
        elif record["kind"] == "deliver" and (by := ended.get((record["room"], record.get("session"), record.get("n")))):
            late = seen.get((record["client"], *by))
            if late:
                records.insert(place + 1, {**late, "time": record["time"]})
                return
    raise AssertionError("the run has no gesture that somebody saw to its end")


def somebody_sees_a_foreign_room(records):
    record = records[middle(of(records, "deliver"))]
    record["client"] = "stranger"


def a_request_is_never_answered(records):
    ends = {record["client"]: place for place, record in enumerate(records) if record["kind"] == "closed"}
    answers = of(records, "answer")
    del records[middle([place for place in answers if place > ends.get(records[place]["client"], -1)])]


def a_request_is_answered_twice(records):
    place = middle(of(records, "answer"))
    records.insert(place + 1, dict(records[place]))


def a_group_is_written_in_part(records):
    # What an undo writes is held to the undo model.
    row = records[middle(of(records, "log", lambda r: r["event"] == "several transformed" and "cause" not in r))]
    row["elements"] = dict(list(row["elements"].items())[1:])


def an_annotation_outlives_its_parent(records):
    def is_cascade(row):
        return not any(row["elements"].values()) and any(parent in row["elements"] for parent in row["parents"].values())

    row = records[middle(of(records, "log", is_cascade))]
    row["elements"] = {name: state for name, state in row["elements"].items() if name not in row["parents"]}
    row["parents"] = {}


def an_old_app_misses_an_update(records):
    del records[middle(of(records, "legacy", lambda r: r["event"] == "transformed" and "part" not in r))]


def an_old_app_gets_an_update_twice(records):
    place = middle(of(records, "legacy", lambda r: r["event"] == "transformed"))
    records.insert(place + 1, dict(records[place]))


def an_old_app_gets_a_part_of_a_group(records):
    del records[middle(of(records, "legacy", lambda r: r.get("part") == 1))]


def viewports(records):
    """The last viewport of each app that looks at a part of its room: where it was set, and the sides of the box."""
    views = {record["client"]: (place, record.get("box")) for place, record in enumerate(records) if record["kind"] == "view"}
    return {client: view for client, view in views.items() if view[1]}


def is_inside(box, view):
    return view[0] <= box[0] and view[1] <= box[1] and box[2] <= view[2] and box[3] <= view[3]


def a_preview_out_of_view_is_shown(records):
    views = viewports(records)
    for place in of(records, "preview", lambda r: r["client"] in views and "box" in r):
        left = records[place]
        begin, view = views[left["client"]]
        if place < begin or is_inside(left["box"], view):
            continue
        # What the others got next of the same drag.
        names = ("room", "sender", "element", "gesture")
        following = of(records[place:], "preview", lambda r: all(r[name] == left[name] for name in names))
        following = [place + next for next in following if records[place + next]["body"] != left["body"]]
        assert not is_inside(records[following[0]]["box"], view)
        records.insert(following[0] + 1, {**records[following[0]], "client": left["client"]})
        return
    raise AssertionError("nobody saw anything leave its view")


def the_last_preview_in_view_is_lost(records):
    views = viewports(records)
    seen = of(records, "preview", lambda r: r["client"] in views and "box" in r and is_inside(r["box"], views[r["client"]][1]))
    last = records[seen[-1]]
    for place in reversed(of(records, "preview", lambda r: r["client"] == last["client"] and r["body"] == last["body"])):
        del records[place]


def a_cursor_is_not_the_last_one(records):
    told = records[middle(of(records, "people"))]["cursors"]
    name = sorted(told)[0]
    told[name] += "1"


def a_selection_is_lost(records):
    told = records[middle(of(records, "people", lambda r: r["selections"]))]["selections"]
    del told[sorted(told)[0]]


def a_cursor_of_nobody_is_shown(records):
    records[middle(of(records, "people"))]["cursors"]["stranger"] = "1 1"


SPOILT = [
    (an_acknowledged_commit_is_not_written, "I1"), (an_acknowledgement_has_another_number, "I1"),
    (an_acknowledgement_has_another_state, "I1"), (a_commit_is_written_twice, "I2"),
    (a_refused_commit_is_written, "I2"), (a_number_is_left_out, "I3"), (an_element_is_not_as_the_log_has_it, "I4"),
    (an_update_is_delivered_twice, "I5"), (an_update_is_not_delivered, "I5"),
    (updates_are_delivered_out_of_order, "I5"), (an_update_says_something_else, "I5"),
    (the_last_update_is_not_delivered, "I6"), (commits_of_a_session_change_places, "I7"),
    (a_later_commit_gets_an_earlier_number, "I8"), (a_commit_is_never_answered, "I9"), (a_preview_is_not_sent, "I10"),
    (a_preview_comes_back, "I10"), (a_preview_comes_after_its_commit, "I10"), (somebody_sees_a_foreign_room, "I13"),
    (a_request_is_never_answered, "I14"), (a_request_is_answered_twice, "I14"), (a_group_is_written_in_part, "I15"),
    (an_annotation_outlives_its_parent, "I15"), (an_old_app_misses_an_update, "I18"),
    (an_old_app_gets_an_update_twice, "I18"), (an_old_app_gets_a_part_of_a_group, "I18"),
    (a_preview_out_of_view_is_shown, "I19"), (the_last_preview_in_view_is_lost, "I19"),
    (a_cursor_is_not_the_last_one, "I20"), (a_selection_is_lost, "I20"), (a_cursor_of_nobody_is_shown, "I20"),
]


@pytest.mark.parametrize(("spoil", "invariant"), SPOILT, ids=[spoil.__name__ for spoil, _ in SPOILT])
def test_what_a_broken_pipeline_does_is_found(recorded, spoil, invariant):
    records, folder = recorded
    spoilt = copy.deepcopy(records)
    spoil(spoilt)
    assert invariant in violated(spoilt, folder)
