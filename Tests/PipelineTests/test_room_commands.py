"""touchsync room export, import and delete, next to a pipeline with members in the room."""

import json
import os
import pathlib
import pty
import signal
import subprocess
import time

import pytest
import requests

import pipeline as pipelines
from pipeline import eventually


def room_command(pipeline, *arguments, check=True):
    return pipeline.touchsync("room", *arguments, "--database-url", pipeline.report["database"], check=check)


def start(pipeline, *arguments, **more):
    """The same without waiting for its end."""
    return subprocess.Popen(
        [str(pipelines.PROGRAMS / "touchsync"), "room", *arguments, "--database-url", pipeline.report["database"]],
        env=pipeline.environment, text=True, **more)


def read(pipeline, room):
    return requests.get(f"{pipeline.url}/api/rooms/{room}", timeout=10).json()


def by_id(elements):
    return {element["id"]: element for element in elements}


def exported(pipeline, room):
    """A header and elements."""
    lines = [json.loads(line) for line in room_command(pipeline, "export", room).stdout.splitlines()]
    return lines[0], lines[1:]


def chains(pipeline):
    """The links between consecutive rows of each shard's log, as far as numbers show; the shards' rows agree."""
    pipeline.assert_shards_gapless()
    wrong = pipeline.rows(
        "select s.shard from shards s left join lateral (select gseq, chain from commit_log l where l.shard = s.shard"
        " order by gseq desc limit 1) l on true"
        " where s.gseq <> coalesce(l.gseq, 0) or s.chain <> coalesce(l.chain, 0)")
    assert wrong == []


@pytest.fixture
def filled(single, two, room):
    """A room with a locked photo, an annotation of it and 20 notes, in which two apps are."""
    ada, _ = two
    photo = {"type": "photo", "id": "p", "own": {"é": [1.5, None]}}
    ada.ok("element:create", {"roomId": room, "element": photo})
    text = {"type": "text", "id": "a-text", "parentId": "p", "space": "normalized", "positionX": 0.5}
    ada.ok("element:create", {"roomId": room, "element": text})
    ada.ok("elements:create", {"roomId": room, "elements": [{"type": "note", "id": f"n{i}"} for i in range(20)]})
    ada.ok("element:transform", {"roomId": room, "elementId": "n3", "transform": {"rotation": 33.5}})
    ada.ok("element:update", {"roomId": room, "elementId": "p", "set": {"locked": True}})
    return room


def test_an_export_is_the_room(single, filled, tmp_path):
    header, elements = exported(single, filled)
    eventually("the room shows it", lambda: read(single, filled)["seq"] == header["seq"])
    answer = read(single, filled)
    assert header == {
        "touchsyncRoom": 1, "roomId": filled, "epoch": answer["epoch"], "seq": answer["seq"], "elements": 22}
    assert len(elements) == 22 and by_id(elements) == by_id(answer["elements"])
    assert [element["id"] for element in elements].index("a-text") == 21
    file = tmp_path / "room.jsonl"
    done = room_command(single, "export", filled, "--output", str(file))
    assert done.stdout == "" and file.read_text() == room_command(single, "export", filled).stdout
    # The running pipeline's folder names the database, too.
    assert single.touchsync("room", "export", filled, "--data", str(single.data)).stdout == file.read_text()


def test_an_export_goes_where_it_is_sent(single, filled, tmp_path):
    """Through what is no regular file, along links, without a change of anybody's mode; a failure leaves nothing."""
    text = room_command(single, "export", filled).stdout
    assert room_command(single, "export", filled, "--output", "/dev/stdout").stdout == text
    room_command(single, "export", filled, "--output", "/dev/null")
    assert os.path.exists("/dev/null") and not os.path.isfile("/dev/null")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writing = start(single, "export", filled, "--output", str(pipe))
    assert pipe.read_text() == text and writing.wait(10) == 0 and pipe.is_fifo()
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("before")
    file.chmod(0o640)
    link.symlink_to("file")
    room_command(single, "export", filled, "--output", str(link))
    assert file.read_text() == text and file.stat().st_mode & 0o777 == 0o640 and link.is_symlink()
    done = room_command(single, "export", filled, "--output", str(tmp_path), check=False)
    assert (done.returncode, done.stderr) == (1, f"touchsync: {tmp_path} is a folder\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link", "pipe"]
    assert not list(tmp_path.parent.glob("*.new"))


def test_an_import_is_seen_by_members_and_equals_the_export(single, filled, apps, room, tmp_path):
    file = tmp_path / "room.jsonl"
    room_command(single, "export", filled, "--output", str(file))
    _, elements = exported(single, filled)
    target = "copy-" + room
    members = [apps(single.url, user) for user in ("cem", "dee")]
    for member in members:
        assert member.join(target)["elements"] == []
    done = room_command(single, "import", target, "--input", str(file), "--json")
    assert json.loads(done.stdout) == {"roomId": target, "imported": 22, "seq": 1}
    for member in members:
        update = member.wait("elements:created")
        assert update["seq"] == 1 and update["userId"] == "operator" and "n" not in update
        assert by_id(update["elements"]) == by_id(elements)
    assert by_id(read(single, target)["elements"]) == by_id(elements)
    # Members go on as if apps had made it.
    answer = members[0].ok("element:transform", {"roomId": target, "elementId": "n3", "positionX": 4})
    assert answer["seq"] == 2 and answer["element"]["rev"] == by_id(elements)["n3"]["rev"] + 1
    members[0].refused("element:delete", {"roomId": target, "elementId": "p"}, "forbidden")
    single.assert_gapless(target)
    chains(single)
    again = room_command(single, "import", target, "--input", str(file))
    assert again.stdout == f"room {target} got this file before; what was deleted since stays deleted\n"


def test_a_deletion_is_seen_by_members(single, filled, two):
    seq = read(single, filled)["seq"]
    done = room_command(single, "delete", filled, "--yes", "--json")
    report = json.loads(done.stdout)
    assert report == {"roomId": filled, "deleted": 22, "seq": report["seq"]} and report["seq"] > seq
    for app in two:
        app.wait_seq(report["seq"], room=filled)
        gone = [id for update in app.named("element:deleted") for id in update["elementIds"]]
        assert len(gone) == len(set(gone)) == 22
    eventually("the room is empty", lambda: read(single, filled)["elements"] == [])
    single.assert_gapless(filled)
    chains(single)
    # Its history goes on.
    page = requests.get(f"{single.url}/api/rooms/{filled}/history", params={"after": seq}, timeout=10).json()
    assert sum(len(entry["changes"]) for entry in page["entries"]) == 22
    assert {entry["userId"] for entry in page["entries"]} == {"operator"}
    assert all(change["after"] is None for entry in page["entries"] for change in entry["changes"])
    assert room_command(single, "delete", filled, "--yes").stdout == f"deleted 0 elements of room {filled}\n"


def test_what_is_refused(single, filled, room, tmp_path):
    file = tmp_path / "room.jsonl"
    room_command(single, "export", filled, "--output", str(file))

    def refused(*arguments, code=1):
        done = room_command(single, *arguments, check=False)
        assert done.returncode == code and done.stdout == "", done
        return done.stderr

    assert "nothing was ever done" in refused("export", "never-" + room)
    assert "nothing was ever done" in refused("delete", "never-" + room, "--yes")
    assert "--yes" in refused("delete", filled, code=64)
    # Other elements than the file's.
    assert "22 elements" in refused("import", filled, "--input", str(file))
    # The limits are the committers', wherever those have them from.
    fresh = ["import", "fresh-" + room, "--input", str(file)]
    settings = tmp_path / "settings.json"
    settings.write_text('{"common":{"roomElements":21}}')
    assert "room-elements" in refused(*fresh, "--config", str(settings))
    assert "room-bytes" in refused(*fresh, "--config", str(settings), "--room-elements", "22", "--room-bytes", "5000")
    lines = file.read_text().splitlines(keepends=True)
    lines[4] = lines[4].replace('"rev":', '"rev":-')
    file.write_text("".join(lines))
    assert "line 5: rev: " in refused("import", "fresh-" + room, "--input", str(file))
    assert requests.get(f"{single.url}/api/rooms/fresh-{room}", timeout=5).status_code == 404
    missing = tmp_path / "none"
    sentence = f"touchsync: {missing} cannot be read: No such file or directory\n"
    assert refused("import", "fresh-" + room, "--input", str(missing)) == sentence
    # What an editor has saved with a byte order mark is a text, too; what no committer stores has its line.
    lines[4] = lines[4].replace('"rev":-', '"rev":').replace('"scaleX":1', '"scaleX":0')
    file.write_text("\ufeff" + "".join(lines))
    assert "line 5: scaleX: It is out of range" in refused("import", "fresh-" + room, "--input", str(file))
    assert "Usage" in refused("import", "a b", code=64)


def test_a_deletion_is_confirmed_on_a_terminal(single, filled):
    for word, code in (("no", 1), (filled, 0)):
        ours, theirs = pty.openpty()
        process = start(
            single, "delete", filled, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.write(ours, f"{word}\n".encode())
        out, complaint = process.communicate(timeout=30)
        os.close(ours), os.close(theirs)
        assert process.returncode == code and "all 22 elements" in complaint, (out, complaint)
        assert ("deleted 22" in out) == (code == 0)


def test_killed_in_between(double, apps, room, tmp_path):
    """While members of rooms of the same shard commit; whatever was written stays, and a second run completes it."""
    epoch = double.rows("select value from meta where key = 'epoch'")[0][0]
    target = "import-" + room
    fields = {
        "positionX": 0, "positionY": 0, "width": 100, "height": 100, "rotation": 0, "scaleX": 1, "scaleY": 1,
        "originalWidth": 100, "originalHeight": 100, "anchorX": 0.5, "anchorY": 0.5, "createdBy": "ann",
        "updatedBy": "bob", "rev": 3}
    elements = [{"id": f"e{i:05}", "type": "note", **fields, "own": "x" * 50} for i in range(3000)]
    header = {"touchsyncRoom": 1, "roomId": "r", "epoch": epoch, "seq": 1, "elements": len(elements)}
    file = tmp_path / "room.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in [header, *elements]))
    members = [apps(url, f"member-{index}") for index, url in enumerate(double.urls)]
    for member in members:
        member.join(target)
    ours = members[0].ok("element:create", {"roomId": target, "element": {"type": "note", "id": "ours"}})
    members[0].ok("element:delete", {"roomId": target, "elementId": "ours"})
    assert ours["seq"] == 1

    def run(*arguments, when):
        """Kills a command once the room has the number `when`; returns whether it was killed before its end."""
        process = start(double, *arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while process.poll() is None and time.monotonic() < deadline:
            if double.rows("select seq from rooms where room_id = %s", target)[0][0] >= when:
                process.send_signal(signal.SIGKILL)
                break
        return process.wait() == -signal.SIGKILL

    def living():
        return double.rows(
            "select count(*) from elements where room_id = %s and deleted_seq is null", target)[0][0]

    assert run("import", target, "--input", str(file), when=5)
    assert 0 < living() < 3000
    # Members may work with what is there. One that reads too slowly would have to join again.
    for member in members:
        member.wait_seq(double.rows("select seq from rooms where room_id = %s", target)[0][0], room=target)
    moving = members[1].ok("element:transform", {"roomId": target, "elementId": "e00000", "positionX": 9})
    assert moving["element"]["rev"] == 4
    done = room_command(double, "import", target, "--input", str(file), "--json")
    assert 0 < json.loads(done.stdout)["imported"] < 3000 and living() == 3000
    for member in members:
        member.wait_seq(json.loads(done.stdout)["seq"], room=target, within=20)
        found = [element["id"] for update in member.named("elements:created") for element in update["elements"]]
        assert sorted(found) == [element["id"] for element in elements]
    _, now = exported(double, target)
    assert by_id(now).keys() == by_id(elements).keys() and by_id(now)["e02999"] == elements[2999]

    assert run("delete", target, "--yes", when=json.loads(done.stdout)["seq"] + 3)
    assert 0 < living() < 3000
    done = room_command(double, "delete", target, "--yes", "--json")
    assert living() == 0
    for member in members:
        member.wait_seq(json.loads(done.stdout)["seq"], room=target, within=20)
        gone = [id for update in member.named("element:deleted") for id in update["elementIds"]]
        assert sorted(gone) == sorted(["ours", *(element["id"] for element in elements)])
    double.assert_gapless(target)
    chains(double)


FOREIGN = pathlib.Path(__file__).resolve().parent.parent / "Import"


@pytest.mark.parametrize("name", sorted(path.name for path in FOREIGN.iterdir() if path.suffix != ".json"))
def test_files_of_other_programs_become_what_the_page_makes_of_them(single, apps, room, name):
    expected = json.loads((FOREIGN / f"{name}.json").read_text())
    ada = apps(single.url, "ada")
    ada.join(room)
    done = room_command(single, "import", room, "--input", str(FOREIGN / name), "--json")
    assert json.loads(done.stdout) == {"roomId": room, "imported": len(expected["elements"]), "seq": 1}
    assert done.stderr == "left out or changed: " + ", ".join(f"{count} × {what}" for what, count in expected["left"].items()) + "\n"
    ada.wait("elements:created")
    stored = sorted(read(single, room)["elements"], key=lambda element: element["id"])
    # The file's order is the room's: ids sort in it. They are names of the file in what is expected.
    names = {element["id"]: one["id"] for element, one in zip(stored, expected["elements"])}

    def told(value):
        return {**value, "element": names[value["element"]]} if isinstance(value, dict) and "element" in value else value

    for element, one in zip(stored, expected["elements"]):
        assert {key: told(element[key]) for key in one if key not in ("id", "groupId")} == {
            key: value for key, value in one.items() if key not in ("id", "groupId")}
    groups = [[element.get("groupId") for element in elements] for elements in (stored, expected["elements"])]
    assert len(set(zip(*groups))) == len(set(groups[0])) == len(set(groups[1])), "groups are kept"
    again = room_command(single, "import", room, "--input", str(FOREIGN / name))
    assert again.stdout == f"room {room} got this file before; what was deleted since stays deleted\n"
