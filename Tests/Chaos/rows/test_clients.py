"""Client libraries in processes of their own live through a short run; then what was written down of it is spoilt as a
broken client would spoil it, and their judge must find it."""

import copy
import re
import signal

import orjson
import pytest
import uvloop

from claims import Truth, judge
from client_faults import CLIENTS
from cluster import temporary_folder
from conftest import acknowledged
from effects import elements_of
from report import EDITS_OF_CLIENTS
from scene import running


@pytest.fixture(scope="module")
def recorded():
    """The records of a run in which clients and daemons died."""

    async def play(folder):
        async with running(folder, 5, 10, 0.3, people=2) as world:
            for fault in CLIENTS:
                await fault.strike(world)
                for stage in ("gateway", "committer"):
                    world.cluster.of(stage)[0].send(signal.SIGKILL)
                await acknowledged(world, 20)
            await world.until(
                "each kind of edit was applied",
                lambda: all(world.counts[f"web.applied.{event}"] for event in EDITS_OF_CLIENTS), 60,
            )
        assert not world.violations, world.violations
        assert world.counts["web.saved and applied"] and world.counts["web.frozen for long"], world.counts

    with temporary_folder() as folder:
        uvloop.run(play(folder))
        with open(folder / "clients.jsonl", "rb") as records:
            yield [orjson.loads(line) for line in records]


def test_the_run_itself_is_good(recorded):
    assert judge(lambda: iter(recorded))[0] == []


# Ways to spoil the records. Each gets a copy of them.


def of(records, kind, condition=lambda record: True):
    """The places of records of a kind."""
    return [place for place, record in enumerate(records) if record["kind"] == kind and condition(record)]


def middle(places):
    assert places, "the run has none of these"
    return places[len(places) // 2]


def asked(records, answer):
    """The place of the edit that an answer is of."""
    return of(records, "edit", lambda r: all(r[name] == answer[name] for name in ("person", "run", "call")))[0]


def applied(records, *events):
    """The places of results of edits of these kinds that are one row each, and of these rows."""
    rooms = {r["person"]: r["room"] for r in records if r["kind"] == "run"}
    rows = {(r["room"], r["seq"]): place for place, r in enumerate(records) if r["kind"] == "row"}
    numbers = [(r["person"], r["seq"]) for r in records if r["kind"] == "applied"]
    return [
        (place, rows[rooms[records[place]["person"]], records[place]["seq"]])
        for place in of(records, "applied", lambda r: numbers.count((r["person"], r["seq"])) == 1)
        if records[asked(records, records[place])]["event"] in events
    ]


def an_edit_takes_effect_twice(records):
    _, row = middle(applied(records, "element:transform", "element:gesture"))
    end = max(records[place]["seq"] for place in of(records, "row", lambda r: r["room"] == records[row]["room"]))
    records.append({**records[row], "seq": end + 1})


def an_applied_edit_is_lost(records):
    _, row = middle(applied(records, "element:update"))
    del records[row]


def an_applied_edit_is_another_one(records):
    _, row = middle(applied(records, "element:gesture"))
    for _, after in records[row]["changes"].values():
        after["positionX"] += 1


def a_saved_edit_is_lost(records):
    results = {(r["person"], r["run"], r["call"]) for r in records if r["kind"] in ("applied", "refused")}
    bodies = [edit["body"] for place in of(records, "killed") for edit in records[place]["saved"]]

    def is_saved(record):
        return record["body"] in bodies and (record["person"], record["run"], record["call"]) not in results

    saved = of(records, "edit", lambda r: r["event"] == "element:create" and is_saved(r))
    name = records[middle(saved)]["body"]["element"]["id"]
    del records[of(records, "row", lambda r: r["event"] == "element:created" and name in r["changes"])[0]]


def a_refused_edit_takes_effect(records):
    place, _ = middle(applied(records, "elements:create"))
    records[place] = {**records[place], "kind": "refused", "code": "invalid"}


def nobody_asked_for_an_edit(records):
    place, row = middle(applied(records, "element:update"))
    answer = records[place]
    for _, after in records[row]["changes"].values():
        after["content"] = "something else"
    del records[asked(records, records[place])]
    del records[of(records, "applied", lambda r: r is answer)[0]]


def an_edit_has_no_result(records):
    last = {r["person"]: r["run"] for r in records if r["kind"] == "run"}
    del records[of(records, "applied", lambda r: r["run"] == last[r["person"]])[-1]]


def an_edit_has_two_results(records):
    place = middle(of(records, "applied"))
    records.insert(place + 1, records[place])


def two_of_one_person(records):
    """The places of two results."""
    results = applied(records, "element:create", "elements:create", "element:update", "elements:transform")
    return [place for place, _ in results if records[place]["person"] == "web0"][:2]


def two_edits_have_one_number(records):
    first, second = two_of_one_person(records)
    records[second]["seq"] = records[first]["seq"]


def a_number_is_known_before_its_edit_begins(records):
    first, second = two_of_one_person(records)
    begun, answer, after = records[asked(records, records[first])], records[first], records[second]
    records.remove(begun)
    records.remove(answer)
    place = records.index(after) + 1
    records[place:place] = [begun, answer]


def looks_of_the_settled(records):
    """The places of looks at which nothing of this person's was under way."""
    under_way, found = {}, []
    for place, record in enumerate(records):
        if record["kind"] == "run":
            under_way[record["person"]] = 0
        elif record["kind"] in ("edit", "touched"):
            under_way[record["person"]] += 1
        elif record["kind"] in ("applied", "refused", "lifted"):
            under_way[record["person"]] -= 1
        elif record["kind"] == "look" and record["elements"] and record["seq"] and not record["pending"]:
            if not under_way[record["person"]]:
                found.append(place)
    return found


def an_element_is_shown_elsewhere(records):
    elements = records[middle(looks_of_the_settled(records))]["elements"]
    elements[sorted(elements)[0]]["positionX"] += 1


def an_element_is_not_shown(records):
    elements = records[middle(looks_of_the_settled(records))]["elements"]
    del elements[sorted(elements)[0]]


def a_deleted_element_is_shown(records):
    elements = records[middle(looks_of_the_settled(records))]["elements"]
    elements["deleted"] = {**elements[sorted(elements)[0]], "id": "deleted"}


def an_element_jumps_back_after_its_result(records):
    truth = Truth(records)
    for place, row in applied(records, "element:update", "element:transform", "element:gesture"):
        answer, room = records[place], records[row]["room"]
        names = set(elements_of(records[asked(records, answer)]["body"]))
        begun = [r for r in records[:place] if r.get("person") == answer["person"] and r["kind"] in ("edit", "touched")]
        if begun[-1]["kind"] == "edit" and begun[-1]["call"] == answer["call"] and names != {"nobody's"}:
            seq = answer["seq"] - 1
            look = {**answer, "kind": "look", "state": "live", "seq": seq, "pending": 0, "elements": truth.room(room, seq)}
            records[place + 1:place + 1] = [{**answer, "kind": "asked"}, look]
            return
    raise AssertionError("the run has no such edit")


def a_number_goes_down(records):
    place = middle(looks_of_the_settled(records))
    records.insert(place + 1, {**records[place], "seq": records[place]["seq"] - 1})


def an_element_is_not_shown_at_the_end(records):
    elements = records[of(records, "last")[0]]["elements"]
    del elements[sorted(elements)[0]]


def an_element_is_shown_otherwise_at_the_end(records):
    elements = records[of(records, "last")[0]]["elements"]
    elements[sorted(elements)[0]]["updatedBy"] = "stranger"


def an_edit_waits_at_the_end(records):
    records[of(records, "last")[0]]["pending"] = 1


SPOILT = [
    (an_edit_takes_effect_twice, "took effect more than once"), (an_applied_edit_is_lost, "which is no row"),
    (an_applied_edit_is_another_one, "which is something else"), (a_saved_edit_is_lost, "neither applied nor refused"),
    (a_refused_edit_takes_effect, "refused with invalid, but in the log"), (nobody_asked_for_an_edit, "never asked for"),
    (an_edit_has_no_result, "no result"), (an_edit_has_two_results, "two results"),
    (two_edits_have_one_number, "one number for several"),
    (a_number_is_known_before_its_edit_begins, "was known before it began"),
    (an_element_is_shown_elsewhere, "is (shown as|back at)"),
    (an_element_is_not_shown, "is (shown as|back at) None"),
    (a_deleted_element_is_shown, "instead of None"), (an_element_jumps_back_after_its_result, "is back at"),
    (a_number_goes_down, "before"), (an_element_is_not_shown_at_the_end, "at the end"),
    (an_element_is_shown_otherwise_at_the_end, "at the end"), (an_edit_waits_at_the_end, "with 1 pending"),
]


@pytest.mark.parametrize(("spoil", "words"), SPOILT, ids=[spoil.__name__ for spoil, _ in SPOILT])
def test_what_a_broken_client_does_is_found(recorded, spoil, words):
    spoilt = copy.deepcopy(recorded)
    spoil(spoilt)
    faults, _ = judge(lambda: iter(spoilt))
    assert any(re.search(words, fault) for fault in faults), faults
