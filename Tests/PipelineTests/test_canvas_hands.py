"""What hands do with elements of the canvas beside moving them: copies, groups, order, lines, sizes, and the menu for all of
it. By real pointers and keys, seen in the other window and stored."""

import json
import math
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


@pytest.mark.parametrize("browser", ["chromium"], indirect=True)
def test_a_picture_from_elsewhere_becomes_a_photo(single, windows, room):
    create(single, room, note("a", 0, 0))
    ada, bob = windows(), windows()
    ada.shows(1)
    ada.ask("""(() => {
        const canvas = document.createElement('canvas');
        canvas.width = 200, canvas.height = 100;
        canvas.getContext('2d').fillRect(0, 0, 100, 100);
        canvas.toBlob(blob => navigator.clipboard.write([new ClipboardItem({ 'image/png': blob })]).then(() => (window.isCopied = true)));
    })()""")
    ada.wait("it is copied", "window.isCopied === true")
    ada.ask("document.getElementById('canvas').focus()")
    ada.mouse("mouseMoved", 500, 320)
    ada.key("v", CTRL)
    bob.shows(2)
    [picture] = eventually("it is stored", lambda: others(ada.stored, "a"))
    assert picture["type"] == "photo" and picture["picture"].startswith("data:image/")
    x, y = ada.on_screen(picture)
    assert abs(x - 500) < 2 and abs(y - 320) < 2
    bob.wait("the other one sees it", "document.querySelector('.element img')?.naturalWidth === 200")


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
    bob.drag((x - 120, y + 90), (x - 60, y), 0)
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


def right_click(window, x, y):
    window.mouse("mousePressed", x, y, 2)
    window.mouse("mouseReleased", x, y, 2)


MENU = "document.querySelector('.context:popover-open')"


def names(window):
    window.wait("the menu is open", f"{MENU} !== null")
    return window.ask(f"[...{MENU}.querySelectorAll('[role=menuitem]')].map(one => one.dataset.name)")


@pytest.mark.parametrize("browser", ["chromium"], indirect=True)
def test_on_a_touch_screen_nothing_speaks_of_keys(single, windows, room):
    create(single, room, note("a", 0, 0))
    ada = windows()
    ada.shows(1)
    ada.window.command("Emulation.setDeviceMetricsOverride", width=800, height=600, deviceScaleFactor=1, mobile=True)
    ada.window.command("Emulation.setTouchEmulationEnabled", enabled=True)
    ada.wait("it has no mouse", "matchMedia('(hover: none) and (pointer: coarse)').matches")
    ada.touch("touchStart", ada.middle("a")), ada.touch("touchEnd")
    selected(ada, 1)
    ada.key("F10", SHIFT)
    assert "duplicate" in names(ada)
    assert ada.ask(f"{MENU}.querySelectorAll('kbd').length") > 5
    assert ada.ask("[...document.querySelectorAll('kbd')].filter(one => one.checkVisibility()).length") == 0
    ada.picture(PICTURES / "menu-touch.png")
    ada.key("Escape")
    # A button that is touched does what it does, without a tip.
    button = ada.ask("(({ x, y, width, height }) => [x + width / 2, y + height / 2])(document.querySelector('#dock [data-command=hand]').getBoundingClientRect())")
    ada.touch("touchStart", button), ada.touch("touchEnd")
    ada.wait("it is pressed", "document.querySelector('#dock [data-command=hand]').getAttribute('aria-pressed') === 'true'")
    assert ada.ask("document.querySelector('.tip')?.checkVisibility() ?? false") is False
    ada.ask("document.getElementById('help').showPopover()")
    assert ada.ask("['help-keys', 'help-gestures'].map(id => document.getElementById(id).checkVisibility())") == [False, True]


def test_a_menu_has_what_applies(single, windows, room):
    create(single, room, note("a", 0, 0), note("b", 300, 0), note("c", 0, 250, locked=True))
    ada, bob = windows(), windows()
    ada.shows(3), bob.shows(3)
    # A right click selects what it is on, and the menu is beside the pointer.
    x, y = ada.middle("a")
    right_click(ada, x, y)
    assert {"cut", "copy", "paste", "duplicate", "remove", "lock", "rotateLeft"} <= set(names(ada))
    assert not {"group", "ungroup", "alignLeft", "note"} & set(names(ada))
    selected(ada, 1)
    box = ada.ask(f"(({{ x, y }}) => [x, y])({MENU}.getBoundingClientRect())")
    assert abs(box[0] - x) < 1 and abs(box[1] - y) < 1
    assert ada.ask(f"{MENU}.querySelector('[data-name=duplicate] kbd').textContent") == "Ctrl + D"
    # By the keyboard: down, by the first letter, Enter; then the canvas has the keys again.
    ada.key("ArrowDown")
    ada.wait("the next one has the focus", "document.activeElement.dataset.name === 'copy'")
    ada.key("ArrowUp"), ada.key("ArrowUp")
    ada.wait("around", "document.activeElement.dataset.name === 'fitSelection'")
    ada.key("d")
    ada.wait("by its letter", "document.activeElement.dataset.name === 'duplicate'")
    ada.picture(PICTURES / "menu.png")
    ada.key("Enter")
    bob.shows(4)
    ada.wait("it is closed", f"{MENU} === null && document.activeElement.id === 'canvas'")
    # What was copied by the menu is pasted where the menu is; Escape closes it alone.
    x, y = ada.middle("b")
    right_click(ada, x, y)
    names(ada)
    ada.press(".context [data-name=cut]")
    bob.shows(3)
    right_click(ada, x + 60, y + 180)
    assert "paste" in names(ada) and "copy" not in names(ada) and "note" in names(ada)
    ada.press(".context [data-name=paste]")
    bob.shows(4)
    copy = eventually("it is stored", lambda: [one for one in others(ada.stored, "b") if one["content"] == "b"])[0]
    at = ada.on_screen(copy)
    assert abs(at[0] - x - 60) < 2 and abs(at[1] - y - 180) < 2
    ada.select("c")
    ada.key("F10", SHIFT)
    assert set(names(ada)) == {"copy", "paste", "duplicate", "lock", "fitSelection"}
    assert ada.ask(f"{MENU}.querySelector('[data-name=lock]').textContent").startswith("Unlock")
    ada.key("Escape")
    ada.wait("it is closed", f"{MENU} === null")
    selected(ada, 1)
    ada.key("F10", SHIFT)
    names(ada)
    ada.press(".context [data-name=lock]")
    eventually("it is unlocked", lambda: not ada.stored["c"].get("locked"))
    # A finger that rests, and is lifted.
    x, y = ada.middle("c")
    ada.touch("touchStart", (x, y))
    time.sleep(0.6)
    ada.touch("touchEnd")
    assert "lock" in names(ada)


def test_elements_are_lined_up_and_laid_over_each_other(single, windows, room):
    create(single, room, note("a", 0, 0), note("b", 110, 90), note("c", 400, 200), note("d", 90, 60, locked=True))
    ada, bob = windows(), windows()
    ada.shows(4), bob.shows(4)

    def top(window):
        x, y = ada.on_screen({"positionX": 55, "positionY": 45})
        return window.ask(f"document.elementFromPoint({x}, {y}).closest('.element')?.dataset.id")

    assert top(bob) == "d"
    ada.select_nothing()
    ada.click(*(at - 60 for at in ada.middle("a")))
    selected(ada, 1)
    ada.key("]", CTRL)
    eventually("it is over the next one that it meets", lambda: ada.stored["a"].get("zIndex") or ada.stored["b"].get("zIndex"))
    order = [element["id"] for element in others(ada.stored)]
    assert order.index("b") < order.index("a") < order.index("d"), order
    ada.key("}", CTRL + SHIFT)
    eventually("it is over all", lambda: [one["id"] for one in others(ada.stored)][-1] == "a")
    eventually("the other one sees it", lambda: top(bob) == "a")
    ada.key("{", CTRL + SHIFT)
    eventually("it is under all", lambda: [one["id"] for one in others(ada.stored)][0] == "a")
    eventually("the other one sees it", lambda: top(bob) == "d")
    ada.key("z", CTRL)
    eventually("one edit each", lambda: top(bob) == "a")
    # The middles of three, a locked one among them stays.
    ada.key("a", CTRL)
    selected(ada, 4)
    ada.key("v", ALT)
    eventually("they are in line", lambda: len({ada.stored[id]["positionY"] for id in "abc"}) == 1)
    assert place(ada.stored["d"]) == (90, 60) and ada.stored["a"]["positionY"] == 100
    ada.key("F10", SHIFT)
    assert {"spreadX", "alignLeft"} <= set(names(ada))
    ada.press(".context [data-name=spreadX]")
    eventually("the gaps are even", lambda: ada.stored["b"]["positionX"] == 200)
    bob.agrees("b"), ada.agrees("b")
    ada.key("z", CTRL), ada.key("z", CTRL)
    eventually("two edits were two undos", lambda: [place(ada.stored[id]) for id in "abc"] == [(0, 0), (110, 90), (400, 200)])


def test_several_turn_and_are_mirrored_as_one_picture(single, windows, room):
    create(single, room, note("a", 0, 0, rotation=20), note("b", 300, 100, rotation=0))
    ada, bob = windows(), windows()
    ada.shows(2), bob.shows(2)
    ada.key("a", CTRL)
    selected(ada, 2)
    before = ada.stored
    ada.key("x")
    eventually("it is stored", lambda: ada.stored["a"]["scaleX"] == -1)
    a, b = ada.stored["a"], ada.stored["b"]
    assert a["positionX"] > b["positionX"] and a["rotation"] == 340 and b["scaleX"] == -1
    assert abs(a["positionX"] - b["positionX"] - 300) <= 1 and a["positionY"] == 0
    eventually("the other one sees it",
               lambda: all(math.dist(bob.middle(one["id"]), bob.on_screen(one)) < 2 for one in (a, b)))
    ada.key("z", CTRL)
    eventually("one undo", lambda: [place(ada.stored[id]) for id in "ab"] == [(0, 0), (300, 100)])
    ada.key("}", SHIFT)
    eventually("it is turned", lambda: ada.stored["a"]["rotation"] == 110)
    a, b = ada.stored["a"], ada.stored["b"]
    assert abs(b["positionX"] - a["positionX"] + 100) <= 1 and abs(b["positionY"] - a["positionY"] - 300) <= 1
    assert b["rotation"] == 90 and before["a"]["rotation"] == 20
    bob.agrees("a"), bob.agrees("b")


def side(element, x, y):
    """Where a place of a stored element is, in fractions of its box from its middle."""
    turn = math.radians(element["rotation"])
    across, along = x * element["originalWidth"] * element["scaleX"], y * element["originalHeight"] * element["scaleY"]
    return (element["positionX"] + across * math.cos(turn) - along * math.sin(turn),
            element["positionY"] + across * math.sin(turn) + along * math.cos(turn))


def test_sides_resize_and_the_other_side_stays(single, windows, room):
    words = "As large as before"
    create(
        single, room, note("a", 0, 0, rotation=30, width=300, height=160, content=words), photo("p", 500, 0),
        {"id": "s", "type": "shape", "shape": "rectangle", "fill": "sky", "stroke": "sky", "positionX": 60, "positionY": 330,
         "width": 200, "height": 100},
        {"id": "t", "type": "text", "content": "A text that wraps", "fontSize": 28, "positionX": 450, "positionY": 250,
         "width": 300, "height": 44})
    ada, bob = windows(), windows()
    ada.shows(4), bob.shows(4)
    ada.select("a")
    font = "getComputedStyle(document.querySelector('.element[data-id=a] .words')).fontSize"
    large, before = bob.ask(font), ada.stored["a"]
    x, y = ada.handle("e")
    way = (-100 * math.cos(math.radians(30)), -100 * math.sin(math.radians(30)))
    ada.drag((x, y), (x + way[0], y + way[1]), lift=False)
    bob.wait("it is seen narrower meanwhile, not smaller", f"""{font} === {json.dumps(large)} && (node => {{
        const {{ a, b }} = new DOMMatrix(getComputedStyle(node).transform);
        return Math.abs(node.offsetWidth - 200) < 2 && node.offsetHeight === 160 && Math.abs(Math.hypot(a, b) - 1) < 0.01;
    }})(document.querySelector('.element[data-id=a]'))""")
    assert ada.stored["a"] == before
    ada.mouse("mouseReleased", x + way[0], y + way[1])
    eventually("it is stored", lambda: abs(ada.stored["a"]["originalWidth"] - 200) <= 1)
    after = ada.stored["a"]
    assert (after["scaleX"], after["scaleY"], after["originalHeight"]) == (1, 1, 160)
    assert math.dist(side(before, -0.5, 0), side(after, -0.5, 0)) < 1.5, (before, after)
    assert bob.ask(font) == large
    ada.agrees("a"), bob.agrees("a")
    ada.key("z", CTRL)
    eventually("one undo", lambda: (ada.stored["a"]["originalWidth"], place(ada.stored["a"])) == (300, (0, 0)))
    ada.agrees("a")
    # With Alt about the middle, with Shift in its ratio.
    x, y = ada.handle("e")
    ada.drag((x, y), (x - way[0] / 2, y - way[1] / 2), ALT + SHIFT)
    eventually("it is larger all around", lambda: abs(ada.stored["a"]["originalWidth"] - 400) <= 2)
    after = ada.stored["a"]
    assert place(after) == (0, 0) and abs(after["originalHeight"] - 160 * 4 / 3) <= 2 and after["scaleX"] == 1
    # Corners of notes scale, about the opposite one; those of shapes resize freely.
    x, y = ada.handle("se")
    ada.drag((x, y), (x + 40, y + 40))
    eventually("it is scaled", lambda: ada.stored["a"]["scaleX"] > 1.05)
    scaled = ada.stored["a"]
    assert scaled["scaleX"] == scaled["scaleY"] and scaled["originalWidth"] == after["originalWidth"]
    assert math.dist(side(after, -0.5, -0.5), side(scaled, -0.5, -0.5)) < 1.5
    ada.select_nothing()
    ada.wait("nothing has a frame", "document.querySelector('.frame').hidden")
    ada.select("s")
    x, y = ada.handle("se")
    ada.drag((x, y), (x + 100, y - 40))
    eventually("it is wider and lower", lambda: (ada.stored["s"]["originalWidth"], ada.stored["s"]["originalHeight"]) == (300, 60))
    assert place(ada.stored["s"]) == (110, 310) and ada.stored["s"]["scaleX"] == 1
    bob.agrees("s")
    # Texts are as high as their lines, and as large as they were.
    ada.select_nothing()
    ada.wait("nothing has a frame", "document.querySelector('.frame').hidden")
    ada.select("t")
    large, before = ada.ask(font.replace("=a]", "=t]")), ada.stored["t"]
    x, y = ada.handle("w")
    ada.drag((x, y), (x + 150, y))
    # By two edits of one undo.
    eventually("it has more lines, below the first one", lambda: ada.stored["t"]["originalHeight"] > before["originalHeight"] + 20
               and math.dist(side(before, 0.5, -0.5), side(ada.stored["t"], 0.5, -0.5)) < 1.5)
    after = ada.stored["t"]
    assert (after["originalWidth"], after["scaleX"], after["wraps"]) == (150, 1, True)
    bob.wait("it is as large", f"{font.replace('=a]', '=t]')} === {json.dumps(large)}")
    ada.key("z", CTRL)
    eventually("one undo", lambda: (ada.stored["t"]["originalWidth"], place(ada.stored["t"])) == (300, (450, 250)))
    # Photos keep their ratio: they have no sides to pull.
    ada.select("p")
    ada.wait("there are none", "!document.querySelector('[data-handle=e]').checkVisibility()")


def test_buttons_say_at_once_what_they_do(windows):
    ada = windows()
    ada.ask("document.getElementById('canvas').focus()")
    ada.key("n")
    ada.write("One")
    ada.key("Enter", CTRL)
    eventually("it is stored", lambda: ada.stored)
    undo, redo = ("document.querySelector('#history [data-command=%s]').disabled" % name for name in ("undo", "redo"))
    assert not ada.ask(undo) and ada.ask(redo)
    # Who takes it back and wants it again need not wait for the server.
    ada.ask("""for (const shiftKey of [false, true]) document.getElementById('canvas').dispatchEvent(
        new KeyboardEvent('keydown', { key: 'z', code: 'KeyZ', ctrlKey: true, shiftKey, bubbles: true }))""")
    eventually("it was taken back and done again", lambda: ada.seq == 4 and ada.stored)
    x, y = ada.ask("(({ x, y, width, height }) => [x + width / 2, y + height / 2])(document.querySelector('#history [data-command=undo]').getBoundingClientRect())")
    ada.mouse("mouseMoved", x, y)
    tip = "document.querySelector('.tip')"
    ada.wait("it is said", f"{tip}?.checkVisibility() && {tip}.textContent === 'UndoCtrl + Z'")
    ada.mouse("mouseMoved", 600, 400)
    ada.wait("and no longer", f"!{tip}.checkVisibility()")
    for _ in range(3):
        ada.key("z", CTRL)
    eventually("nothing is there", lambda: ada.stored == {})
    ada.wait("nothing can be undone", f"{undo} && !{redo}")
    ada.key("z", CTRL + SHIFT)
    ada.wait("it can again", f"!{undo}")
    # V selects, H moves the canvas.
    for key, tool in (("h", "hand"), ("v", "select")):
        ada.key(key)
        ada.wait(f"{key} is {tool}", f"document.querySelector('#dock [data-command={tool}]').getAttribute('aria-pressed') === 'true'")
    # The focus says it, too.
    ada.ask("document.querySelector('#dock [data-command=select]').focus()")
    ada.key("Tab")
    ada.wait("it is said", f"{tip}?.checkVisibility() && {tip}.textContent.startsWith('Move the canvas')")
