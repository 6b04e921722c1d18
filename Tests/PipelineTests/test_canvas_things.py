"""Shapes, arrows, strokes of a pen and pictures on the canvas, drawn by hand: what one window draws the other shows, and
the room has it."""

import json
import math
import random
import struct
import zlib

import pytest

from canvas import CTRL, PICTURES, SHIFT, create, note, photo
from pipeline import eventually


# How many handles the ends of a selected arrow have.
ENDS = "document.querySelectorAll('.handle.end:not([hidden])').length"


def only(window, type):
    """The stored element of a type, when there is exactly one."""
    found = []

    def look():
        found[:] = [element for element in window.stored.values() if element["type"] == type]
        return len(found) == 1

    eventually(f"there is one {type}", look)
    return found[0]


def at(window, x, y):
    """Where a point of the canvas is in a window."""
    camera = json.loads(window.ask(f"sessionStorage.getItem('touchsync camera {window.room}')"))
    return (x - camera["x"]) * camera["zoom"], (y - camera["y"]) * camera["zoom"]


def line(window, id):
    """Where an arrow is drawn: its tail and its head, pixels of the window."""
    return window.ask(f"""(() => {{
        const node = document.querySelector('.element[data-id={json.dumps(id)}]'), path = node.querySelector('.line');
        const length = Number(/H([\\d.]+)/.exec(path.getAttribute('d'))[1]), map = path.getScreenCTM();
        return [0, length].map(x => {{
            const {{ x: left, y: top }} = new DOMPoint(x, 12).matrixTransform(map);
            return [left, top];
        }});
    }})()""")


def reload(window):
    window.ask("window.isBefore = true; location.reload()")
    window.wait("it is another page", "window.isBefore === undefined && document.getElementById('state')?.textContent.includes(' here')")


def is_near(a, b, within=2):
    return math.dist(a, b) < within


def test_shapes_are_drawn_by_hand(windows, room):
    ada, bob = windows(), windows()
    ada.key("r")
    ada.drag((300, 200), (500, 320), lift=False)
    bob.wait("the other one sees it grow", "document.querySelector('.drafts rect')?.getAttribute('width') === '200'")
    assert ada.stored == {}
    ada.mouse("mouseReleased", 500, 320)
    shape = only(ada, "shape")
    assert (shape["shape"], shape["width"], shape["height"]) == ("rectangle", 200, 120)
    bob.shows(1)
    bob.wait("the draft is gone", "document.querySelector('.drafts').childElementCount === 0")
    for window in (ada, bob):
        assert is_near(window.middle(shape["id"]), at(window, shape["positionX"], shape["positionY"]))
    # Drawn once: a drag selects again. Taken twice it stays, and Escape puts it down.
    assert ada.ask("document.body.dataset.tool") == "select"
    ada.key("o"), ada.key("o")
    ada.drag((600, 200), (700, 250), SHIFT)
    ada.click(700, 500)
    eventually("both are there", lambda: len(ada.stored) == 3)
    sizes = sorted((one["width"], one["height"]) for one in ada.stored.values() if one["shape"] == "ellipse")
    assert sizes == [(100, 100), (180, 120)]
    ada.key("Escape")
    # A text in its middle, by a double click.
    x, y = ada.middle(shape["id"])
    ada.click(x, y), ada.click(x, y)
    ada.wait("its text is edited", "document.activeElement.tagName === 'TEXTAREA'")
    ada.write("Start")
    ada.key("Enter", CTRL)
    bob.wait("the other one reads it", "[...document.querySelectorAll('[data-kind=shape] .words')].some(one => one.textContent === 'Start')")
    # It stretches without growing its line.
    left, top = ada.handle("e")
    ada.drag((left, top), (left + 100, top), CTRL)
    eventually("it is wider", lambda: abs(ada.stored[shape["id"]]["width"] - 300) < 3)
    assert ada.ask("getComputedStyle(document.querySelector('[data-kind=shape] .form')).strokeWidth") == "3px"
    # Without a pointer: its key, and Enter.
    ada.select_nothing()
    ada.key("r"), ada.key("Enter")
    eventually("there is a fourth one", lambda: len(ada.stored) == 4)
    bob.shows(4)


def test_arrows_follow_what_they_lie_on(single, windows, apps, room):
    create(single, room, note("a", 0, 0), note("b", 500, 0), note("c", 500, 400))
    ada, bob = windows(), windows()
    ada.shows(3), bob.shows(3)
    ada.key("a")
    start, end = ada.middle("a"), ada.middle("b")
    ada.drag((start[0] + 5, start[1]), (end[0] - 3, end[1] + 2), lift=False)
    bob.wait("the other one sees it grow", "document.querySelector('.drafts path') !== null")
    ada.wait("what it would take hold of is marked", "document.querySelectorAll('.outline').length === 1")
    ada.mouse("mouseReleased", end[0] - 3, end[1] + 2)
    arrow = only(ada, "arrow")
    id, before = arrow["id"], ada.seq
    assert {name: (arrow[name]["element"], arrow[name]["x"], arrow[name]["y"]) for name in ("from", "to")} == \
        {"from": ("a", 0.5, 0.5), "to": ("b", 0.5, 0.5)}
    bob.shows(4)
    ends = {name: tuple(bob.middle(name)) for name in "abc"}
    tail, head = line(bob, id)
    # Clipped to the edges, with a small gap.
    assert is_near(tail, (ends["a"][0] + 85, ends["a"][1])) and is_near(head, (ends["b"][0] - 85, ends["b"][1]))
    # While one of both moves the arrow follows in the other window; then nothing of the arrow was written.
    ada.drag(end, (end[0], end[1] + 150), CTRL, lift=False)
    bob.wait("it follows meanwhile", f"Math.abs({json.dumps(head[1])} - document.querySelector('.element[data-id={json.dumps(id)}]').getBoundingClientRect().bottom) > 100")
    assert ada.seq == before
    ada.mouse("mouseReleased", end[0], end[1] + 150)
    eventually("the note is stored", lambda: ada.seq == before + 1)
    assert ada.stored[id] == arrow
    bob.agrees("b")
    # Turned by a quarter, the note ends elsewhere.
    ada.key("}", SHIFT)
    eventually("it is turned", lambda: ada.stored["b"]["rotation"] == 90)
    bob.agrees("b")
    to, away = bob.middle("b"), bob.middle("a")
    head = line(bob, id)[1]
    way = math.atan2(to[1] - away[1], to[0] - away[0])
    assert is_near(head, (to[0] - 60 - 5 * math.cos(way), to[1] - (60 + 5 * math.cos(way)) * math.tan(way)), 3)
    # It is hit by its line, not by its box.
    ada.select_nothing()
    (x0, y0), (x1, y1) = line(ada, id)
    ada.click(x0 + 8, y1 - 8)
    assert ada.ask(ENDS) == 0
    ada.click((x0 + x1) / 2, (y0 + y1) / 2 + 3)
    ada.wait("it has handles at its ends", f"{ENDS} === 2")
    # Its head goes to another note, then to nothing.
    ada.drag((x1, y1), ada.middle("c"))
    eventually("it is tied to the third", lambda: ada.stored[id]["to"].get("element") == "c")
    eventually("the other one sees it", lambda: is_near(line(bob, id)[1], bob.middle("c"), 110))
    ada.picture(PICTURES / "canvas-arrow.png")
    # Its element goes: it stays where it was, and one undo brings both back.
    last = line(bob, id)
    ada.select("c")
    ada.key("Delete")
    bob.shows(3)
    eventually("it is free", lambda: "element" not in ada.stored[id]["to"])
    assert is_near(line(bob, id)[1], last[1])
    ada.key("z", CTRL)
    bob.shows(4)
    eventually("it is tied again", lambda: ada.stored[id]["to"].get("element") == "c")
    eventually("and drawn so", lambda: is_near(line(bob, id)[1], last[1]))
    # An app that knows nothing of arrows deletes it: the arrow is drawn where it was.
    grace = apps(single.url, "grace")
    grace.join(room)
    grace.ok("element:delete", {"roomId": room, "elementId": "c"})
    bob.shows(3)
    assert is_near(line(bob, id)[1], last[1])


def test_free_arrows_go_with_the_hand(windows, room):
    ada, bob = windows(), windows()
    ada.key("a")
    ada.drag((300, 300), (500, 400))
    arrow = only(ada, "arrow")
    id = arrow["id"]
    bob.shows(1)
    before = line(bob, id)
    ada.select_nothing()
    ada.drag((400, 350), (440, 410), CTRL)
    eventually("it is stored", lambda: ada.stored[id]["positionX"] == arrow["positionX"] + 40)
    eventually("all of it moved", lambda: all(is_near((x + 40, y + 60), now) for (x, y), now in zip(before, line(bob, id))))
    # A marquee beside its line, within its box, catches nothing.
    ada.select_nothing()
    ada.drag((345, 440), (375, 455))
    assert ada.ask(ENDS) == 0
    ada.drag((380, 350), (440, 440))
    ada.wait("it is caught", f"{ENDS} === 2")


def test_strokes_of_a_pen(windows, room):
    ada, bob = windows(), windows()
    ada.key("p")
    places = [(400 + 120 * math.cos(turn / 10), 350 + 120 * math.sin(turn / 10)) for turn in range(60)]
    ada.mouse("mouseMoved", *places[0])
    ada.mouse("mousePressed", *places[0], 1)
    for place in places[1:]:
        ada.mouse("mouseMoved", *place, 1)
    bob.wait("the other one sees it grow", "document.querySelector('.drafts path')?.getAttribute('d').includes('Q')")
    assert ada.stored == {}
    ada.mouse("mouseReleased", *places[-1])
    stroke = only(ada, "stroke")
    assert 16 < len(stroke["points"]) < 120 and all(isinstance(number, int) for number in stroke["points"])
    assert abs(stroke["width"] - 240) < 3 and ada.seq == 1
    bob.shows(1)
    bob.wait("the draft is gone", "document.querySelector('.drafts').childElementCount === 0")
    # A pen stays in the hand; Escape puts it down.
    ada.drag((700, 300), (800, 300))
    eventually("there are two", lambda: len(ada.stored) == 2)
    ada.key("Escape")
    bob.shows(2)
    bob.picture(PICTURES / "canvas-pen.png")
    # It is hit by its line, not inside of it.
    ada.click(400, 350)
    assert ada.ask("document.querySelector('.frame').hidden")
    ada.click(*places[20])
    ada.wait("it is selected", "document.querySelector('.frame').hidden === false")
    ada.drag(places[20], (places[20][0] + 50, places[20][1]), CTRL)
    eventually("it moves as others do", lambda: ada.stored[stroke["id"]]["positionX"] == stroke["positionX"] + 50)
    ada.key("z", CTRL), ada.key("z", CTRL)
    eventually("one undo takes back a stroke", lambda: list(ada.stored) == [stroke["id"]])
    bob.shows(1)


def test_colours_are_those_of_what_is_selected_and_of_what_is_drawn_next(single, windows, room):
    create(single, room, note("n", 500, -150), {"id": "s", "type": "shape", "shape": "ellipse", "positionX": 0, "width": 160, "height": 120},
           photo("p", 500, 150))
    ada, bob = windows(), windows()
    ada.shows(3), bob.shows(3)

    def choose(*colours):
        for colour in colours:
            ada.press(f"[data-colour='{colour}']")

    def looks(window, id, node, style):
        return window.ask(f"getComputedStyle(document.querySelector('[data-id={json.dumps(id)}] {node}')).{style}")

    ada.ask("document.getElementById('canvas').focus()")
    ada.key("a", CTRL)
    ada.key("c")
    choose("fill sky", "stroke rose")
    eventually("all have them that can", lambda: (ada.stored["n"].get("tint"), ada.stored["s"].get("fill"), ada.stored["s"].get("stroke"))
               == ("sky", "sky", "rose"))
    assert "fill" not in ada.stored["n"] and not {"fill", "stroke", "tint"} & set(ada.stored["p"])
    eventually("the other one sees it", lambda: (looks(bob, "s", ".form", "fill"), looks(bob, "s", ".form", "stroke"))
               == ("rgb(186, 223, 255)", "rgb(174, 27, 64)"))
    ada.key("Escape")
    # What is drawn next has them too, also after a reload; without a fill it is hit by its line alone.
    ada.select_nothing()
    ada.key("c")
    assert ada.ask("document.querySelector('.swatch.fill[aria-pressed=true]').dataset.colour") == "fill sky"
    choose("fill none")
    ada.key("Escape")
    reload(ada)
    ada.shows(3)
    ada.key("r")
    ada.drag((200, 150), (400, 300))
    eventually("it is stored", lambda: len(ada.stored) == 4)
    drawn = next(one for id, one in ada.stored.items() if id not in ("n", "s", "p"))
    assert (drawn["fill"], drawn["stroke"]) == ("none", "rose")
    ada.select_nothing()
    ada.click(*ada.on_screen(drawn))
    assert ada.ask("document.getElementById('selection').hidden")
    x, y = ada.on_screen({**drawn, "positionX": drawn["positionX"] - drawn["originalWidth"] / 2})
    ada.wait("its line is there", f"document.elementFromPoint({x + 2}, {y}).matches('.touch')")
    ada.click(x + 2, y)
    ada.wait("it is selected", "document.querySelector('.frame').hidden === false")
    bob.shows(4)
    bob.picture(PICTURES / "canvas-colours.png")


def png(width, height):
    """A picture of noise, which no format makes small."""
    rows = b"".join(b"\0" + random.Random(row).randbytes(3 * width) for row in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def choose(window, *files):
    """Chooses files for a picture, by its key."""
    page, listeners, opened = window.window, window.browser.listeners, []
    heard = listeners[page.session]
    listeners[page.session] = lambda method, parameters: (
        heard(method, parameters), method == "Page.fileChooserOpened" and opened.append(parameters["backendNodeId"]))
    page.command("Page.setInterceptFileChooserDialog", enabled=True)
    window.key("f")
    eventually("a file is asked for", lambda: opened)
    page.command("DOM.setFileInputFiles", files=[str(file) for file in files], backendNodeId=opened[0])
    listeners[page.session] = heard


def test_a_long_stroke_is_several_elements_and_one_edit(windows, room):
    ada, bob = windows(), windows()
    ada.key("p")
    # Rows of teeth: a pen that is simplified keeps each of them.
    places = [(200 + 4 * step, 250 + 100 * row + (step % 2) * 30) for row in range(3) for step in range(220)]
    ada.mouse("mouseMoved", *places[0])
    ada.window.mouse([("mousePressed", places[0], 1, 0), *[("mouseMoved", place, 1, 0) for place in places[1:]],
                      ("mouseReleased", places[-1], 1, 0)], 0, 1)
    eventually("it is stored", lambda: len(ada.stored) > 1)
    strokes = list(ada.stored.values())
    assert all(one["type"] == "stroke" and len(one["points"]) <= 1000 for one in strokes)
    assert sum(len(one["points"]) // 2 for one in strokes) > 600
    assert ada.seq == 1 and len({one["groupId"] for one in strokes}) == 1
    # Each part begins where the one before ends.

    def point(one, index):
        return [one[f"position{axis}"] - one[side] / 2 + one["points"][2 * index + offset]
                for axis, side, offset in (("X", "width", 0), ("Y", "height", 1))]

    ends = [(point(one, 0), point(one, len(one["points"]) // 2 - 1)) for one in strokes]
    assert sum(is_near(last, first) for _, last in ends for first, _ in ends) == len(strokes) - 1
    bob.shows(len(strokes))
    ada.key("Escape")
    ada.key("z", CTRL)
    bob.shows(0)
    assert ada.stored == {}


def test_a_picture_that_waits_for_the_connection_is_seen_and_stored_once(windows, room):
    ada, bob = windows(), windows()
    ada.press("[popovertarget=menu-box]")
    ada.press("#offline")
    ada.key("Escape")
    ada.wait("it is offline", "document.getElementById('state').textContent.includes('Offline')")
    # Noise, which no format makes small.
    ada.ask("""(async () => {
        const canvas = new OffscreenCanvas(400, 200), brush = canvas.getContext('2d'), image = brush.createImageData(400, 200);
        for (let at = 0; at < image.data.length; at += 65_536) crypto.getRandomValues(image.data.subarray(at, at + 65_536));
        for (let at = 3; at < image.data.length; at += 4) image.data[at] = 255;
        brush.putImageData(image, 0, 0);
        const transfer = new DataTransfer();
        transfer.items.add(new File([await canvas.convertToBlob()], 'noise.png', { type: 'image/png' }));
        const options = { dataTransfer: transfer, clientX: 640, clientY: 400, bubbles: true, cancelable: true };
        document.getElementById('canvas').dispatchEvent(new DragEvent('drop', options));
    })()""")
    ada.wait("it is seen here", "document.querySelector('.element img')?.naturalWidth > 100")
    ada.wait("the edit waits", "document.getElementById('pending').textContent === '1 edit waiting'")
    assert ada.stored == {}
    # Another page of this browser has it once the disk has it, and sends it.
    ada.wait("it is saved", """(indexedDB.open("touchsync", 1).onsuccess = ({ target: { result: database } }) => {
        database.transaction("values").objectStore("values").getAll().onsuccess = ({ target: { result } }) => {
            database.close();
            window.isSaved = JSON.stringify(result).includes("data:image/");
        };
    }, window.isSaved === true)""")
    reload(ada)
    photo = only(ada, "photo")
    assert photo["picture"].startswith("data:image/") and 20_000 < len(photo["picture"]) <= 64 << 10
    for window in (ada, bob):
        window.shows(1)
        window.wait("it is shown", "document.querySelector('.element img')?.naturalWidth > 100")
    assert ada.seq == 1
    ada.wait("nothing waits", "document.getElementById('pending').hidden")


@pytest.mark.parametrize("browser", ["chromium"], indirect=True)
def test_pictures_come_from_files(windows, room, tmp_path):
    (tmp_path / "holiday.png").write_bytes(png(900, 600))
    (tmp_path / "drawing.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="80"><script>parent.evil = 1</script>'
        '<rect width="40" height="80" fill="red"/></svg>')
    (tmp_path / "list.txt").write_text("milk")
    (tmp_path / "broken.png").write_bytes(png(9, 9)[:40])
    ada, bob = windows(), windows()
    choose(ada, tmp_path / "holiday.png", tmp_path / "drawing.svg")
    eventually("both are stored", lambda: len(ada.stored) == 2)
    by_title = {one["title"]: one for one in ada.stored.values()}
    for title, aspect in (("holiday", 900 / 600), ("drawing", 40 / 80)):
        one = by_title[title]
        assert one["type"] == "photo" and one["picture"].startswith("data:image/webp;base64,") and len(one["picture"]) <= 64 << 10
        assert abs((one["width"] - 16) / (one["height"] - 16) - aspect) < 0.02
        bob.wait("the other one sees it", f"""(() => {{
            const image = document.querySelector('[data-id={json.dumps(one["id"])}] img');
            return image?.complete && Math.abs(image.naturalWidth / image.naturalHeight - {aspect}) < 0.01;
        }})()""")
    assert len(by_title["holiday"]["picture"]) > 20_000, "a large one has many pixels"
    assert ada.ask("document.querySelectorAll('.element').length") == 2 and ada.ask("typeof evil") == "undefined"
    ada.wait("it is drawn", "[...document.images].every(image => image.complete)")
    bob.picture(PICTURES / "canvas-pictures.png")
    # Another one is dropped.
    data = {"items": [], "files": [str(tmp_path / "drawing.svg")], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        ada.window.command("Input.dispatchDragEvent", type=kind, x=200, y=250, data=data)
    bob.shows(3)
    [dropped] = [one for one in ada.stored.values() if one["id"] not in (by_title["holiday"]["id"], by_title["drawing"]["id"])]
    assert is_near(at(ada, dropped["positionX"], dropped["positionY"]), (200, 250))
    ada.key("z", CTRL)
    bob.shows(2)
    # It is moved and undone as any other; a reload has it.
    id = by_title["holiday"]["id"]
    ada.select_nothing()
    x, y = ada.middle(id)
    ada.drag((x, y), (x - 60, y + 40), CTRL)
    eventually("it is moved", lambda: ada.stored[id]["positionX"] == by_title["holiday"]["positionX"] - 60)
    bob.agrees(id)
    reload(bob)
    bob.shows(2)
    bob.agrees(id)
    ada.key("z", CTRL), ada.key("z", CTRL)
    bob.shows(0)
    # What is no picture is refused in words.
    for file, words in (("list.txt", "“list” is no picture."), ("broken.png", "“broken” cannot be read as a picture.")):
        choose(ada, tmp_path / file)
        ada.wait("it says why", f"document.getElementById('toast').textContent === {json.dumps(words)}")
    assert ada.stored == {}
    assert ada.ask("document.getElementById('picture-files')") is None


def test_a_picture_is_only_ever_a_picture(single, windows, room):
    """What an element brings as its picture, from anybody."""
    dot = "data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs="
    odd = ["data:image/svg+xml;base64,PHN2Zy8+", "javascript 1", "https://a.example/a.png",
           "data:image/png;base64,\" onerror=", "../x", ["data:image/png;base64,AA"], 7, None]
    create(single, room, *(photo(f"odd{index}", index * 100, 0, picture=picture) for index, picture in enumerate(odd)),
           photo("dot", 0, 300, picture=dot))
    ada = windows()
    ada.shows(len(odd) + 1)
    shown = "Object.fromEntries([...document.querySelectorAll('.element')].map(one => [one.dataset.id, one.querySelector('img').getAttribute('src')]))"
    ada.wait("whose pictures are shown is known", f"!Object.values({shown}).includes(null)")
    shown = ada.ask(shown)
    assert shown.pop("dot") == dot
    assert set(shown.values()) == {"/app/mountains.svg"}
