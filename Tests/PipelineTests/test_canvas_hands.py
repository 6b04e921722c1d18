"""What hands do with elements of the canvas beside moving them: copies, groups, order, lines, sizes, and the menu for all of
it. By real pointers and keys, seen in the other window and stored."""

import json
import time

import pytest

from canvas import ALT, CTRL, PICTURES, SHIFT, Canvas, create, note, photo
from pipeline import eventually


def selected(window, count):
    window.wait(f"{count} are selected", f"""(() => {{
        const shown = document.querySelector('.frame').hidden ? 0 : Number(document.getElementById('selection-count').textContent || 1);
        return shown === {count};
    }})()""")


def place(element):
    return element["positionX"], element["positionY"]


def others(stored, *known):
    """What came beside known elements, in the order of drawing."""
    found = [element for id, element in stored.items() if id not in known]
    return sorted(found, key=lambda element: (element.get("zIndex", 0), element["id"]))


def test_what_is_copied_is_pasted_in_another_room_and_belongs_together(single, browser, windows, room):
    create(
        single, room, photo("a", 0, 0, groupId="g"), note("b", 300, 0, groupId="g", locked=True, zIndex=7),
        {"id": "t", "type": "text", "parentId": "a", "space": "normalized", "positionX": 0.5, "positionY": 0.5,
         "width": 100, "height": 40, "content": "on it"},
        {"id": "w", "type": "arrow", "from": {"element": "a", "x": 1, "y": 0.5}, "to": {"element": "b", "x": 0, "y": 0.5},
         "positionX": 150, "positionY": 0, "width": 60, "height": 20})
    ada, bob = windows(), windows()
    other = Canvas(browser, single, f"{room}-2")
    ada.shows(4), bob.shows(4)
    ada.ask("document.getElementById('canvas').focus()")
    ada.key("a", CTRL)
    selected(ada, 3)
    ada.key("c", CTRL)
    # Beside what is there, then further each time, where nobody points.
    ada.key("v", CTRL)
    ada.key("v", CTRL)
    bob.shows(12)
    eventually("they are stored", lambda: len(ada.stored) == 12)
    first, second = (others(ada.stored, "a", "b", "t", "w")[at:at + 4] for at in (0, 4))
    for copies in (first, second):
        photos, notes, arrows, texts = ([one for one in copies if one["type"] == type] for type in ("photo", "note", "arrow", "text"))
        assert [len(some) for some in (photos, notes, arrows, texts)] == [1, 1, 1, 1]
        [a], [b], [w], [t] = photos, notes, arrows, texts
        assert a["groupId"] == b["groupId"] != "g" and "locked" not in b
        assert t["parentId"] == a["id"] and (t["positionX"], t["positionY"]) == (0.5, 0.5)
        assert (w["from"]["element"], w["to"]["element"]) == (a["id"], b["id"])
        assert b["positionX"] - a["positionX"] == 300 and all(one["zIndex"] == 7 for one in (a, b, w))
    one, two = place(first[0]), place(second[0])
    assert 20 <= one[0] <= 28 and one[0] == one[1] and (two[0] - one[0], two[1] - one[1]) == (24, 24), (one, two)
    assert first[0]["groupId"] != second[0]["groupId"]
    selected(ada, 3)
    ada.key("z", CTRL)
    bob.shows(8)
    # In another room, where the pointer is.
    other.mouse("mouseMoved", 400, 300)
    other.ask("document.getElementById('canvas').focus()")
    other.key("v", CTRL)
    other.shows(4)
    box = other.ask("""(() => {
        const { x, y, width, height } = document.querySelector('.frame').getBoundingClientRect();
        return [x + width / 2, y + height / 2];
    })()""")
    assert abs(box[0] - 400) < 3 and abs(box[1] - 300) < 3, box
    eventually("it is stored", lambda: len(other.stored) == 4)
    other.key("z", CTRL)
    other.shows(0)
    assert other.complaints == []
    other.close()


def test_text_from_elsewhere_becomes_a_note(single, windows, room):
    create(single, room, note("a", 0, 0), note("b", 400, 0, locked=True))
    ada, bob = windows(), windows()
    ada.shows(2)
    # A text field keeps its own copy and paste.
    ada.press("#room")
    ada.key("a", CTRL)
    ada.key("c", CTRL)
    ada.ask("document.getElementById('canvas').focus()")
    ada.mouse("mouseMoved", 300, 400)
    ada.key("v", CTRL)
    ada.key("v", CTRL)
    bob.shows(4)
    eventually("they are stored", lambda: len(ada.stored) == 4)
    first, second = others(ada.stored, "a", "b")
    assert first["content"] == second["content"] == room
    x, y = ada.on_screen(first)
    assert abs(x - 300) < 2 and abs(y - 400) < 2
    assert second["positionX"] - first["positionX"] == second["positionY"] - first["positionY"] == 24
    # What is dropped comes where it is dropped; markup is text.
    ada.drop(700, 200, "<b>Dropped</b>")
    bob.wait("the other one reads it", "[...document.querySelectorAll('.words')].some(one => one.textContent === '<b>Dropped</b>')")
    # What is cut is gone, and can be pasted; what is locked stays.
    ada.select("a")
    ada.key("x", CTRL)
    bob.shows(4)
    ada.key("v", CTRL)
    bob.wait("it is back", "[...document.querySelectorAll('.words')].some(one => one.textContent === 'a')")
    ada.select("b")
    ada.key("x", CTRL)
    ada.wait("it says why", "document.getElementById('toast').textContent.startsWith('It is locked')")
    # The other programs get plain text.
    ada.press("#room")
    ada.key("a", CTRL)
    ada.key("v", CTRL)
    ada.wait("it is its text", "document.getElementById('room').value === 'b'")


def test_copies_are_pulled_off(single, windows, room):
    create(single, room, note("a", 0, 0), note("b", 220, 0), photo("c", 0, 300))
    ada, bob = windows(), windows()
    ada.shows(3), bob.shows(3)
    ada.select("a")
    ada.click(*ada.middle("b"), SHIFT)
    x, y = ada.middle("a")
    start = bob.seen("a")
    ada.drag((x, y), (x + 30, y + 160), ALT, lift=False)
    bob.shows(5)
    bob.wait("it is seen while it moves", "document.querySelectorAll('.element.moving').length === 2")
    assert bob.seen("a") == start, "the first ones stay"
    ada.mouse("mouseReleased", x + 30, y + 160, 1, ALT)

    def are_put():
        copies = others(ada.stored, "a", "b", "c")
        return copies if len(copies) == 2 and copies[0]["positionY"] > 100 else None

    first, second = eventually("they are stored", are_put)
    assert second["positionX"] - first["positionX"] == 220 and second["positionY"] == first["positionY"]
    assert place(ada.stored["a"]) == (0, 0)
    bob.agrees(first["id"]), bob.agrees(second["id"]), ada.agrees(first["id"])
    selected(ada, 2)
    ada.key("z", CTRL)
    bob.shows(3)
    ada.key("z", CTRL + SHIFT)
    bob.shows(5)
    bob.agrees(first["id"])
    # Escape lets nothing remain, neither here nor to be undone.
    ada.select_nothing()
    x, y = ada.middle("c")
    ada.drag((x, y), (x + 300, y), ALT, lift=False)
    bob.shows(6)
    ada.key("Escape")
    ada.mouse("mouseReleased", x + 300, y, 1, ALT)
    bob.shows(5)
    # Beside it, by a key.
    ada.select("c")
    ada.key("d", CTRL)
    bob.shows(6)
    copy = eventually("it is stored", lambda: [one for one in others(ada.stored, "c") if one["type"] == "photo"])[0]
    assert place(copy) == (24, 324)
    ada.key("z", CTRL)
    bob.shows(5)
    ada.key("z", CTRL)
    bob.shows(3)


def test_a_group_is_one_in_all_windows(single, windows, room):
    create(single, room, note("a", 0, 0), note("b", 220, 0), note("c", 440, 0), note("d", 0, 300))
    ada, bob = windows(), windows()
    ada.shows(4), bob.shows(4)
    ada.select("a")
    ada.click(*ada.middle("b"), SHIFT)
    ada.key("g", CTRL)
    eventually("it is stored", lambda: ada.stored["b"].get("groupId"))
    assert ada.stored["a"]["groupId"] == ada.stored["b"]["groupId"] and "groupId" not in ada.stored["c"]
    time.sleep(0.4)
    # A click on one takes both, in the other window, too; another click with Shift gives both back.
    bob.select("a")
    selected(bob, 2)
    bob.click(*bob.middle("d"), SHIFT)
    selected(bob, 3)
    bob.click(*bob.middle("b"), SHIFT)
    selected(bob, 1)
    # Dragging one takes the other along.
    bob.select_nothing()
    x, y = bob.middle("b")
    bob.drag((x, y), (x + 20, y - 120), CTRL)
    eventually("both moved", lambda: place(ada.stored["a"])[1] < -50 and place(ada.stored["a"])[1] == place(ada.stored["b"])[1])
    # A marquee that touches one.
    bob.select_nothing()
    x, y = bob.middle("a")
    bob.drag((x - 120, y - 90), (x - 60, y), 0)
    selected(bob, 2)
    # A double click reaches inside; the next click takes the other one alone; one beside it ends that.
    bob.double_click(*bob.middle("a"))
    selected(bob, 1)
    assert bob.ask("!document.body.classList.contains('written')")
    time.sleep(0.4)
    bob.click(*bob.middle("b"))
    selected(bob, 1)
    bob.select_nothing()
    bob.click(*bob.middle("c"))
    selected(bob, 1)
    time.sleep(0.4)
    bob.click(*bob.middle("b"))
    selected(bob, 2)
    bob.click(*bob.middle("b"), CTRL)
    selected(bob, 1)
    # What was grouped is one edit to undo; and apart again.
    ada.select_nothing()
    ada.click(*ada.middle("a"))
    selected(ada, 2)
    ada.key("g", CTRL + SHIFT)
    eventually("they are apart", lambda: "groupId" not in ada.stored["a"] and "groupId" not in ada.stored["b"])
    ada.key("z", CTRL)
    eventually("and together again", lambda: ada.stored["a"].get("groupId") and ada.stored["b"].get("groupId"))
