"""People, time and files on the canvas at `/`: who follows whom, what the room was, and what goes out of it and into it."""

import base64
import contextlib
import http.server
import json
import os
import pathlib
import struct
import threading
import time
import zlib

import pytest
import requests

from app import App
from canvas import CTRL, PICTURES, SHIFT, create, note, photo
from conftest import SECRET, claims, signed
from page import Page
from pipeline import eventually

# People


def camera(window):
    return json.loads(window.ask(f"sessionStorage.getItem('touchsync camera {window.room}')"))


def shows_the_same(window, other):
    """Whether a window shows what another one of the same size does."""
    one, two = camera(window), camera(other)
    return all(abs(one[field] - two[field]) * (1000 if field == "zoom" else 1) < 2 for field in ("x", "y", "zoom"))


def test_a_window_follows_another_one_until_its_person_looks_elsewhere(single, windows, room):
    create(single, room, note("a", 0, 0))
    ada, bob = windows(), windows()
    ada.shows(1), bob.shows(1)
    name = ada.ask("document.getElementById('own-name').value")
    bob.press("#faces .face")
    bob.wait("it says whom", f"document.getElementById('following').innerText.includes({json.dumps(name)})")
    colour = ada.ask("document.getElementById('own-colour').value")
    assert bob.ask("getComputedStyle(document.getElementById('following')).borderColor") == \
        "rgb({}, {}, {})".format(*bytes.fromhex(colour[1:]))
    ada.wheel(640, 400, 30, 41), ada.wheel(640, 400, 300, 30, SHIFT)
    eventually("its view moved", lambda: camera(ada)["x"] > -500)
    eventually("bob sees what ada sees", lambda: shows_the_same(bob, ada))
    ada.wheel(640, 400, 0, -100)
    eventually("it is nearer", lambda: camera(ada)["zoom"] > 1.1)
    eventually("for both", lambda: shows_the_same(bob, ada))
    bob.picture(PICTURES / "canvas-following.png")
    # Each follows the other one: nobody is driven away.
    ada.press("#faces .face")
    ada.wait("there is no view", "document.getElementById('following').innerText.includes('shows no view')")
    ada.ask("document.getElementById('canvas').focus()")
    ada.key("Escape")
    ada.wait("it ends", "document.getElementById('following').hidden")
    bob.wheel(640, 400, 25, 37)
    bob.wait("who looks elsewhere follows nobody", "document.getElementById('following').hidden")
    place = "document.getElementById('world').style.transform"
    stays, before = bob.ask(place), ada.ask(place)
    ada.wheel(640, 400, 0, 90)
    eventually("ada is elsewhere", lambda: ada.ask(place) != before)
    time.sleep(0.4)
    assert bob.ask(place) == stays


def test_names_are_told_apart_and_cursors_rest(single, windows, apps, room):
    create(single, room, note("a", 0, 0))
    ada = windows()
    ada.shows(1)
    ada.ask("(later => (window.setTimeout = (act, ms) => later(act, ms === 6000 ? 400 : ms)))(setTimeout)")
    # No window has this name by itself.
    one, two = (apps(single.url, f"user-{index}", name="Hedy", auth={"color": "#ff00aa"}) for index in (1, 2))
    one.join(room), two.join(room)
    ada.wait("both are there", "document.querySelectorAll('#faces .face').length === 2")
    ada.press("#people")
    assert ada.ask("[...document.querySelectorAll('#people-list .row span:nth-of-type(2)')].map(one => one.textContent).filter(name => name.startsWith('Hedy'))") \
        == ["Hedy", "Hedy 2"]
    ada.key("Escape")
    two.send("cursor:moving", {"roomId": room, "x": 150, "y": 100})
    ada.wait("it points", "document.querySelector('.cursor .name')?.textContent === 'Hedy 2'")
    pink = """(() => {
        const map = document.getElementById('minimap'), copy = new OffscreenCanvas(map.width, map.height).getContext('2d');
        copy.drawImage(map, 0, 0);
        const { data } = copy.getImageData(0, 0, map.width, map.height);
        let count = 0;
        for (let at = 0; at < data.length; at += 4) count += data[at] > 200 && data[at + 1] < 60 && data[at + 2] > 120;
        return count;
    })()"""
    ada.wait("the map has a dot of its colour", f"{pink} > 5")
    ada.wait("it fades", "document.querySelector('.cursor.resting') !== null")
    ada.wait("in the map, too", f"{pink} === 0")
    two.ok("viewport:set", {"roomId": room, "x": -300, "y": -200, "width": 500, "height": 300, "share": True})
    ada.wait("the map has its view", f"{pink} > 20")
    two.send("cursor:moving", {"roomId": room, "x": 250, "y": 100})
    ada.wait("it is back", "document.querySelector('.cursor:not(.resting)') !== null")
    two.ok("room:leave", {"roomId": room})
    ada.wait("nothing is left of who left", f"document.querySelectorAll('#faces .face').length === 1 && !document.querySelector('.cursor') && {pink} === 0")


def test_who_may_look_finds_nothing_to_change(guarded, browser, room):
    token = signed(claims(sub="eve", name="Eve", rooms={room: "view"}))
    other = App(guarded.url, auth={"token": signed(claims(sub="ada", name="Ada"))}).connect()
    other.join(room)
    other.ok("element:create", {"roomId": room, "element": note("a", 0, 0)})
    eve = Page(browser, f"{guarded.url}/app/mark.svg")
    try:
        eve.ask(f"sessionStorage.setItem('touchsync token', {json.dumps(json.dumps(token))})")
        eve.open(f"{guarded.url}/?room={room}")
        eve.wait("she is in", "document.getElementById('looking')?.checkVisibility() && document.querySelector('.element') !== null")
        tools = "[...document.querySelectorAll('[data-command]')].filter(one => one.checkVisibility()).map(one => one.dataset.command)"
        allowed = {"select", "hand", "zoomIn", "zoomOut", "actual", "fit"}
        assert set(eve.ask(tools)) <= allowed, eve.ask(tools)
        assert eve.ask("[...document.querySelectorAll('#dock button')].filter(one => one.checkVisibility()).length") == 2
        x, y = eve.ask("(({ x, y, width, height }) => [x + width / 2, y + height / 2])(document.querySelector('.element').getBoundingClientRect())")
        eve.click(x, y)
        eve.wait("it is selected", "document.querySelector('.frame').hidden === false")
        assert eve.ask("[...document.querySelectorAll('.handle')].some(one => one.checkVisibility())") is False
        eve.drag((x, y), (x + 100, y))
        eve.wait("it says why", "document.getElementById('toast').textContent.startsWith('You may look')")
        eve.ask("document.getElementById('canvas').focus()")
        for key in ("n", "Delete", "ArrowRight"):
            eve.key(key)
        # What she copies she can paste elsewhere.
        eve.click(x, y)
        eve.ask("document.getElementById('toast').textContent = ''")
        eve.key("c", CTRL)
        eve.key("v", CTRL)
        eve.wait("it says why nothing is pasted", "document.getElementById('toast').textContent.startsWith('You may look')")
        assert eve.ask("document.querySelectorAll('.element').length") == 1
        eve.picture(PICTURES / "canvas-looking.png")
        other.send("element:transform", {"roomId": room, "elementId": "a", "positionX": 40})
        eve.wait("she sees what others do", f"Math.abs(document.querySelector('.element').getBoundingClientRect().x - {x + 40 - 80}) < 2")
        history = requests.get(f"{guarded.url}/api/rooms/{room}/history", headers={"Authorization": f"Bearer {token}"}, timeout=10).json()
        assert [entry["userId"] for entry in history["entries"]] == ["ada", "ada"]
        assert eve.complaints == []
    finally:
        eve.close(), other.close()


class Inviter(http.server.BaseHTTPRequestHandler):
    """The app's own server, which makes invitations."""

    asked = []

    def answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("Access-Control-Allow-Origin", self.headers["Origin"])
        self.send_header("Access-Control-Allow-Headers", "authorization, content-type")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_OPTIONS(self):
        self.answer(204)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((body, self.headers["Authorization"]))
        self.answer(200, json.dumps({"link": f"https://app.example/enter?as={body['right']}"}).encode())

    def log_message(self, *_):
        pass


def test_an_invitation_comes_with_a_right(beside, browser, room):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Inviter)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    with contextlib.ExitStack() as stack:
        stack.callback(server.server_close), stack.callback(server.shutdown)
        pipeline = stack.enter_context(beside("--invite-url", f"{address}/invite?for=room", environment={"TOUCHSYNC_JWT_SECRET": SECRET}))
        policy = requests.get(pipeline.url, timeout=10).headers["content-security-policy"]
        assert f"connect-src 'self' {address};" in policy
        for right, offered in (("commit", ["", "commit", "view"]), ("view", ["", "view"])):
            token = signed(claims(sub="eve", rooms={room: right}))
            eve = Page(browser, f"{pipeline.url}/app/mark.svg")
            stack.callback(eve.close)
            eve.ask(f"sessionStorage.setItem('touchsync token', {json.dumps(json.dumps(token))})")
            eve.open(f"{pipeline.url}/?room={room}")
            eve.wait("she is in", "document.getElementById('state').textContent.includes(' here')")
            eve.press("[popovertarget=share-box]")
            eve.wait("rights are offered", "document.getElementById('right') !== null")
            assert eve.ask("[...document.getElementById('right').options].map(one => one.value)") == offered
            eve.ask("document.getElementById('right').focus()")
            for _ in offered[1:]:
                eve.key("ArrowDown")
            eve.wait("its link is there", "document.getElementById('link').value === 'https://app.example/enter?as=view'")
            assert ({"room": room, "right": "view"}, f"Bearer {token}") in Inviter.asked
            assert eve.complaints == []
        eve.picture(PICTURES / "canvas-invitation.png")


# Export


def downloads(window, folder):
    window.download_to(folder)

    def file(name):
        eventually(f"{name} is there", lambda: (folder / name).exists() and (folder / name).stat().st_size > 0)
        return (folder / name).read_bytes()

    return file


def export(window, command):
    window.press("[popovertarget=menu-box]")
    window.press(f"#menu-box [data-command={command}]")
    window.key("Escape")


DIFFERENCE = """(async () => {
    const draw = async (address, x, y, scale) => {
        const image = new Image(), canvas = new OffscreenCanvas(%(width)d, %(height)d), brush = canvas.getContext("2d");
        image.src = address;
        await image.decode();
        brush.drawImage(image, -x, -y, image.width * scale, image.height * scale);
        return brush.getImageData(0, 0, canvas.width, canvas.height).data;
    };
    const a = await draw(%(page)s, %(x)f, %(y)f, 1), b = await draw(%(file)s, 0, 0, 0.5);
    let sum = 0, off = 0;
    for (let at = 0; at < a.length; at += 4) {
        const most = Math.max(...[0, 1, 2].map(part => Math.abs(a[at + part] - b[at + part])));
        sum += most;
        off += most > 90;
    }
    window.difference = { mean: sum / (a.length / 4), off: off / (a.length / 4) };
})()"""


def difference(window, page, file, box):
    """How much two pictures differ, in the place of the page where the file's is."""
    address = "'data:image/png;base64,%s'"
    values = {"page": address % base64.b64encode(page).decode(), "file": address % base64.b64encode(file).decode()}
    window.ask("delete window.difference")
    window.ask(DIFFERENCE % {**values, **box})
    return window.wait("both are compared", "window.difference")


def test_a_picture_of_the_room_is_what_the_page_shows(single, windows, room, tmp_path):
    lens = {"perspective": 700}
    create(
        single, room,
        photo("a", -300, 0, rotationY=45, width=300, height=220, **lens), photo("b", 0, -110, picture="city", scaleX=-1, rotation=20),
        note("c", 0, 120, content="A text that is long enough for three lines", tint="sky", rotation=340),
        note("d", 290, 100, content="Askew", tint="rose", rotationX=40, rotationY=330, width=200, height=200, **lens),
        {"type": "audio", "title": "A tune", "positionX": 300, "positionY": -120, "width": 320, "height": 88},
        {"type": "text", "content": "on it", "parentId": "a", "space": "normalized", "positionX": 0.5, "positionY": 0.8,
         "width": 140, "height": 40, "fontSize": 20},
        {"id": "e", "type": "shape", "shape": "ellipse", "content": "Round", "fill": "mint", "stroke": "mint", "positionX": 480, "positionY": 40,
         "width": 150, "height": 100},
        {"type": "arrow", "from": {"element": "c", "x": 0.5, "y": 0.5}, "to": {"element": "e", "x": 0.5, "y": 0.5}, "positionX": 200,
         "positionY": 80, "stroke": "rose"},
        {"type": "stroke", "points": [0, 0, 40, 60, 90, 10, 140, 50], "stroke": "sky", "positionX": -110, "positionY": 210, "width": 140,
         "height": 60, "rotation": 20},
        {"type": "text", "content": "Free text", "positionX": -280, "positionY": 190, "fontSize": 36, "width": 220, "height": 56})
    ada = windows()
    ada.shows(10)
    file = downloads(ada, tmp_path)
    export(ada, "exportPng")
    png = file(f"{room}.png")
    ada.ask("[...document.querySelectorAll('.panel, .chips, .ruler')].forEach(panel => (panel.style.visibility = 'hidden'))")
    ada.wait("nothing is open", "!document.querySelector(':popover-open')")
    page = ada.seen_now()
    ada.ask("[...document.querySelectorAll('.panel, .chips, .ruler')].forEach(panel => (panel.style.visibility = ''))")
    (PICTURES / "export.png").write_bytes(png), (PICTURES / "export-page.png").write_bytes(page)

    export(ada, "exportSvg")
    svg = file(f"{room}.svg").decode()
    x, y, width, height = (float(number) for number in svg.split('viewBox="')[1].split('"')[0].split())
    camera = json.loads(ada.ask(f"sessionStorage.getItem('touchsync camera {room}')"))
    assert camera["zoom"] == 1
    box = {"x": x - camera["x"], "y": y - camera["y"], "width": width, "height": height}
    found = difference(ada, page, png, box)
    assert found["mean"] < 4 and found["off"] < 0.012, found
    # It needs nothing of this server.
    assert svg.count("<image") > 1 and 'href="/' not in svg and "http:" not in svg.replace("http://www.w3.org/2000/svg", "")

    # Of a selection, with what lies on it.
    ada.select("a")
    export(ada, "exportJson")
    lines = [json.loads(line) for line in file(f"{room}-selection.jsonl").decode().splitlines()]
    assert lines[0]["touchsyncRoom"] == 1 and lines[0]["elements"] == 2 and lines[0]["seq"] == 1
    assert [line["type"] for line in lines[1:]] == ["photo", "text"]
    assert lines[1] == ada.stored["a"]


# The clipboard of a headless Firefox has texts alone.
@pytest.mark.parametrize("browser", ["chromium"], indirect=True)
def test_a_selection_is_copied_as_a_picture(single, windows, room):
    create(single, room, photo("a", 0, 0), note("b", 300, 0), note("c", 0, 300))
    ada = windows()
    ada.shows(3)
    ada.select("a")
    ada.click(*ada.middle("b"), SHIFT)
    export(ada, "copyPng")
    ada.wait("it says so", "document.getElementById('toast').textContent.startsWith('Copied 2')")
    ada.ask("navigator.clipboard.read().then(items => (window.copied = items[0].types))")
    assert ada.wait("it is on the clipboard", "window.copied") == ["image/png"]


# Time


def past(window, id):
    """Where the past has an element, in the window; nothing where it has none."""
    return window.ask(f"""(() => {{
        const node = document.querySelector('.past .element[data-id={json.dumps(id)}]'), box = node?.getBoundingClientRect();
        return node && {{ x: box.x + box.width / 2, y: box.y + box.height / 2, text: node.innerText.trim() }};
    }})()""")


MAP = "document.getElementById('minimap').toDataURL()"


def test_the_room_is_played_back_and_what_was_comes_back(single, windows, apps, room):
    create(single, room, note("a", -150, 0, content="First"), note("b", 150, 0))
    ada, bob = windows(), apps(single.url, "bob", name="Bob")
    bob.join(room)
    bob.ok("element:transform", {"roomId": room, "elementId": "a", "positionX": -150, "positionY": 140, "transform": {"rotation": 30}})
    bob.ok("element:update", {"roomId": room, "elementId": "a", "set": {"content": "Second", "tint": "sky"}})
    bob.ok("element:delete", {"roomId": room, "elementId": "b"})
    ada.shows(1)
    x, y = ada.middle("a")
    ada.select("a")
    ada.key("H", SHIFT)
    ada.wait("the bar is there", "document.querySelector('.playback .what')?.textContent.includes('Bob')")
    ada.wait("it says what Bob did last", "document.querySelector('.playback .deed').textContent.trim() === 'deleted Note “b”'")
    assert ada.ask("getComputedStyle(document.getElementById('world')).visibility") == "hidden"
    assert past(ada, "a")["text"] == "Second" and past(ada, "b") is None
    map_of_now = ada.ask(MAP)
    ada.key("ArrowLeft")
    assert past(ada, "b")["text"] == "b"
    ada.wait("the map shows it, too", f"{MAP} !== {json.dumps(map_of_now)}")
    ada.key("ArrowLeft")
    assert past(ada, "a")["text"] == "First"
    assert abs(past(ada, "a")["y"] - y) < 2
    ada.key("ArrowLeft")
    first = past(ada, "a")
    assert abs(first["y"] - (y - 140)) < 2
    # The room goes on behind, and its hands are not on the past: a drag moves the canvas.
    bob.ok("element:create", {"roomId": room, "element": note("c", 0, -120)})
    seq = ada.seq
    ada.drag((first["x"], first["y"]), (first["x"] + 60, first["y"] + 40))
    eventually("it moved", lambda: abs(past(ada, "a")["x"] - first["x"] - 60) < 2)
    ada.key("Delete")
    ada.wait("the bar is longer", "document.querySelector('.playback input').max === '5'")
    assert ada.seq == seq
    # What was deleted, and what is there in another state, come back as one edit.
    at = past(ada, "b")
    ada.click(at["x"], at["y"], SHIFT)
    ada.wait("both are chosen", "document.querySelectorAll('.past .chosen').length === 2")
    ada.ask("requestAnimationFrame(() => requestAnimationFrame(() => window.isDrawn = true))")
    ada.wait("it is drawn", "window.isDrawn")
    ada.picture(PICTURES / "canvas-past.png")
    ada.press(".playback .button:not(.primary)")
    ada.shows(3)
    eventually("it is as it was", lambda: ada.stored["a"].get("content") == "First")
    eventually("all of it", lambda: (ada.stored["a"]["positionY"], ada.stored["a"]["rotation"], "tint" in ada.stored["a"]) == (0, 0, False))
    again = next(one for one in ada.stored.values() if one.get("content") == "b")
    assert again["id"] != "b" and again["positionX"] == 150
    ada.key("z", CTRL)
    eventually("one undo takes all back", lambda: sorted(one["content"] for one in ada.stored.values()) == ["Second", "c"])
    assert (ada.stored["a"]["positionY"], ada.stored["a"]["rotation"], ada.stored["a"]["tint"]) == (140, 30, "sky")


@pytest.mark.parametrize("browser", ["chromium"], indirect=True)
def test_what_does_not_come_is_said_and_comes_later(single, windows, room):
    create(single, room, note("a", 0, 0))
    ada = windows()
    ada.shows(1)
    ada.window.command("Network.enable")
    ada.window.command("Network.setBlockedURLs", urls=["*/app/later.js"])
    ada.key("H", SHIFT)
    ada.wait("it says so", "document.getElementById('toast').textContent.startsWith('A part of this page did not come')")
    ada.complaints.clear()
    ada.window.command("Network.setBlockedURLs", urls=[])
    ada.key("H", SHIFT)
    ada.wait("the bar is there", "document.querySelector('.playback') !== null")


def test_the_past_plays_by_itself(single, windows, apps, room):
    bob = apps(single.url, "bob", name="Bob")
    bob.join(room)
    bob.ok("element:create", {"roomId": room, "element": note("a", -200, 0)})
    for x in range(5):
        bob.ok("element:transform", {"roomId": room, "elementId": "a", "positionX": x * 100 - 200})
    ada = windows(width=390, height=700)
    ada.shows(1)
    ada.press("[popovertarget=menu-box]")
    ada.press("#menu-box [data-command=past]")
    ada.wait("the bar is there", "document.querySelector('.playback') !== null")
    ada.ask("""window.seen = [];
        new MutationObserver(() => seen.push(document.querySelector('.playback input').value))
            .observe(document.querySelector('.playback .what'), { childList: true })""")
    ada.press(".playback .value")
    ada.press(".playback [aria-label=Play]")
    ada.wait("it ends with the last change", "seen.at(-1) === '6'")
    assert ada.ask("[...new Set(seen)]") == ["0", "1", "2", "3", "4", "5", "6"]
    ada.wait("it stands still", "document.querySelector('.playback [aria-label=Play]') !== null")
    ada.picture(PICTURES / "canvas-past-small.png")
    # The slider is dragged by a hand.
    box = ada.ask("(() => { const { x, y, width } = document.querySelector('.playback input').getBoundingClientRect(); return [x, y, width] })()")
    ada.drag((box[0] + box[2] - 8, box[1] + 14), (box[0] + 4, box[1] + 14))
    ada.wait("the room was empty", "document.querySelector('.playback .what').textContent === 'The room was empty.'")
    assert past(ada, "a") is None
    ada.key("Escape")
    ada.wait("the room is there", "!document.querySelector('.playback, .past') && getComputedStyle(document.getElementById('world')).visibility === 'visible'")


# Import


def noise(width, height):
    """A picture as PNG that cannot be compressed."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + os.urandom(3 * width) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


IMPORTS = pathlib.Path(__file__).resolve().parent.parent / "Import"


# Files come from outside of the page by the DevTools protocol.
@pytest.mark.parametrize("browser", ["chromium"], indirect=True)
def test_a_file_of_excalidraw_is_dropped_and_taken_back(single, windows, room):
    create(single, room, note("a", 5000, 0))
    ada, bob = windows(), windows()
    ada.shows(1), bob.shows(1)
    expected = json.loads((IMPORTS / "diagram.excalidraw.json").read_text())["elements"]
    data = {"items": [], "files": [str(IMPORTS / "diagram.excalidraw")], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        ada.window.command("Input.dispatchDragEvent", type=kind, x=600, y=380, data=data)
    ada.wait("it says what came, and what did not", "document.getElementById('toast').textContent.includes('Left out or changed: 1 × diamond')")
    eventually("all is stored", lambda: len(ada.stored) == len(expected) + 1)
    stored = [one for one in ada.stored.values() if one["id"] != "a"]
    server, store = (next(one for one in stored if one.get("fill") == fill) for fill in ("sky", "rose"))
    # As in the file, moved to where it was dropped.
    assert (store["positionX"] - server["positionX"], store["positionY"] - server["positionY"]) == (571 - 200, 111 - 110)
    assert (server["content"], store["shape"], store["rotation"], store["opacity"]) == ("The server", "ellipse", 30, 0.6)
    way = next(one for one in stored if one["type"] == "arrow" and one["stroke"] == "mint")
    assert (way["from"]["element"], way["to"]["element"]) == (server["id"], store["id"])
    assert len({one["groupId"] for one in stored if "groupId" in one}) == 2
    bob.wait("the other one sees it, too", "document.querySelectorAll('.element').length > 5")
    ada.key("1")
    ada.ask("requestAnimationFrame(() => requestAnimationFrame(() => window.isDrawn = true))")
    ada.wait("it is drawn", "window.isDrawn")
    ada.picture(PICTURES / "canvas-imported.png")
    ada.key("z", CTRL)
    eventually("one undo takes it back", lambda: list(ada.stored) == ["a"])


@pytest.mark.parametrize("browser", ["chromium"], indirect=True)
def test_a_file_of_tldraw_and_an_exported_room_are_chosen(single, windows, room, tmp_path):
    ada = windows()
    expected = json.loads((IMPORTS / "board.tldr.json").read_text())["elements"]
    opened = []
    heard = ada.browser.listeners[ada.window.session]
    ada.browser.listeners[ada.window.session] = lambda method, parameters: (
        heard(method, parameters), method == "Page.fileChooserOpened" and opened.append(parameters["backendNodeId"]))
    ada.window.command("Page.setInterceptFileChooserDialog", enabled=True)

    def choose(file):
        opened.clear()
        ada.press("[popovertarget=menu-box]")
        ada.press("#menu-box [data-command=import]")
        eventually("a file is asked for", lambda: opened)
        ada.window.command("DOM.setFileInputFiles", files=[str(file)], backendNodeId=opened[0])

    # A picture that is too large for an element is made smaller.
    board = json.loads((IMPORTS / "board.tldr").read_text())
    asset = next(one for one in board["records"] if one["id"] == "asset:1")
    asset["props"]["src"] = "data:image/png;base64," + base64.b64encode(noise(300, 200)).decode()
    assert len(asset["props"]["src"]) > 200_000
    (tmp_path / "board.tldr").write_text(json.dumps(board))
    choose(tmp_path / "board.tldr")
    eventually("all is stored", lambda: len(ada.stored) == len(expected))
    picture = next(one["picture"] for one in ada.stored.values() if one["type"] == "photo")
    assert picture.startswith("data:image/") and 1000 < len(picture) <= 65536
    words = next(one for one in ada.stored.values() if one["type"] == "text" and one["align"] == "center")
    assert (words["content"], words["ink"], words["fontSize"]) == ("Some words\nbelow", "peach", 36)

    # What one room exported the other imports.
    file = downloads(ada, tmp_path)
    ada.key("Escape")
    ada.select_nothing()
    export(ada, "exportJson")
    (tmp_path / "copy.jsonl").write_bytes(file(f"{room}.jsonl"))
    (tmp_path / "odd.json").write_text("[1]")
    before = ada.stored
    choose(tmp_path / "odd.json")
    ada.wait("it is none", "document.getElementById('toast').textContent.startsWith('odd.json is no file')")
    choose(tmp_path / "copy.jsonl")
    eventually("twice as many", lambda: len(ada.stored) == 2 * len(expected))
    after = [one for id, one in ada.stored.items() if id not in before]
    server = ("id", "rev", "createdBy", "updatedBy", "positionX", "positionY", "from", "to", "groupId")
    bare = [sorted(json.dumps({key: value for key, value in one.items() if key not in server}, sort_keys=True) for one in all)
            for all in (before.values(), after)]
    assert bare[0] == bare[1]
    for arrow in (one for one in after if one["type"] == "arrow"):
        assert all(end["element"] in ada.stored and end["element"] not in before for end in (arrow["from"], arrow["to"]) if "element" in end)
