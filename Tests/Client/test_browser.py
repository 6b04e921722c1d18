"""The client in a browser: served by a gateway to a page of another origin, with its store and its lock."""

import http.server
import json
import math
import pathlib
import re
import threading
import urllib.parse

import pytest

from browser_pages import BLANK, ClientPage, Page
from network import network
from pipeline import eventually, running

HERE = pathlib.Path(__file__).resolve().parent
README = pathlib.Path(__file__).resolve().parents[2] / "Shared" / "Client" / "README.md"


@pytest.fixture
def kind():
    """The other person's client."""
    return "web"


def open_client(page, url, room, connects=True):
    """Makes a client with a store of its own user, in a room."""
    page.run(f"""(async () => {{
        const {{ TouchSync }} = await import({json.dumps(url + "/client/touchsync.js")});
        const {{ IndexedDBStore }} = await import({json.dumps(url + "/client/store.js")});
        globalThis.store = new IndexedDBStore();
        globalThis.client = new TouchSync({{ url: {json.dumps(url)}, userId: "ada", store, owner: "ada" }});
        globalThis.room = client.room({json.dumps(room)});
        if ({json.dumps(connects)}) {{
            client.connect();
            await room.joined;
        }}
    }})()""")
    eventually("the store is open", lambda: page.run("client.persistence") == "ready")


def load_again(page, *address):
    """Loads a page again, or another one of its tab."""
    page.run("globalThis.isFormer = true")
    if address:
        page.browser.run("Page.navigate", page.session, url=address[0])
    else:
        page.browser.run("Page.reload", page.session)
    eventually("it is another page", lambda: page.run("globalThis.isFormer === undefined && document.readyState") == "complete")


# What tabs keep of the room, by what the edits do.
KEPT = """store.perform("readonly", values => values.getAll()).then(values => values.flatMap(rooms => rooms[room.id] ?? [])
    .map(({ edits }) => edits.map(edit => edit.body.preset ?? edit.event).join()).sort())"""


def example(gateway):
    """The page of README.md for a gateway elsewhere; nothing without a gateway."""
    if not gateway:
        return ""
    page = re.search(r"```html\n(.*?)```", README.read_text(), re.DOTALL)[1]
    assert '"/client/touchsync.js"' in page and "new TouchSync({" in page
    page = re.sub(r'"(/client/\w+\.js)"', lambda path: json.dumps(gateway + path[1]), page)
    return page.replace("new TouchSync({", f"new TouchSync({{ url: {json.dumps(gateway)},")


@pytest.fixture(scope="module")
def origin():
    """Where the pages come from: none of our servers."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            gateway = urllib.parse.unquote(self.path.partition("?")[2])
            self.wfile.write(("<!doctype html><body>" + example(gateway)).encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


@pytest.fixture(scope="module")
def browser(browsers):
    return browsers["ada"]


def test_tabs_keep_their_own_edits_and_send_what_others_left(browser, origin, room):
    with running("--origins", origin) as pipeline:
        first, second = Page(browser, origin), Page(browser, origin)
        open_client(first, pipeline.url, room)
        first.run("room.create({ id: 'a', type: 'note' }).then(() => true)")
        open_client(second, pipeline.url, room)
        assert second.run("room.elements.map(element => element.id)") == ["a"]
        first.run("client.disconnect(), room.preset('a', 'rotateCW'), room.preset('a', 'rotateCW'), 0")
        second.run("client.disconnect(), room.preset('a', 'flipX'), 0")
        eventually("both are saved", lambda: first.run(KEPT) == ["flipX", "rotateCW,rotateCW"])
        # The second one lives on, and is connected: it sends what the first one left, and each once.
        first.close()
        second.run("client.connect()")
        other = Page(browser, origin)
        seen = "room.element('a').rotation + ' ' + room.element('a').scaleX"
        eventually("all were sent", lambda: second.run(seen) == "180 -1")
        eventually("nothing is kept", lambda: second.run(KEPT) == [])
        assert pipeline.assert_gapless(room) == 4
        # Without any tab an edit waits for the next one, which shows it before there is a connection.
        second.run("client.disconnect(), room.preset('a', 'flipY'), 0")
        eventually("it is saved", lambda: second.run(KEPT) == ["flipY"])
        second.close()
        open_client(other, pipeline.url, room, connects=False)
        other.run("client.connect()")
        eventually("it was sent", lambda: other.run("room.pending === 0 && room.element('a').scaleY") == -1)
        assert pipeline.assert_gapless(room) == 5
        other.close()


@pytest.mark.parametrize("how", ["reload", "navigate"])
def test_a_tab_that_is_loaded_again_finds_what_it_kept(browser, origin, room, how):
    with running("--origins", origin) as pipeline:
        first, second = Page(browser, origin), Page(browser, origin)
        open_client(first, pipeline.url, room)
        open_client(second, pipeline.url, room)
        second.run("client.disconnect(), room.create({ id: 'mine', type: 'note' }), 0")
        eventually("it is saved", lambda: second.run(KEPT) == ["element:create"])
        load_again(second, *([origin + "/again"] if how == "navigate" else []))
        open_client(second, pipeline.url, room, connects=False)
        assert second.run("room.elements.map(element => element.id)") == ["mine"], "it is shown before there is a connection"
        # A duplicate of the tab has its name as well, but is another tab.
        duplicate = Page(browser, origin)
        names = second.run("JSON.stringify(sessionStorage)")
        duplicate.run(f"Object.assign(sessionStorage, {names}), 0")
        open_client(duplicate, pipeline.url, room, connects=False)
        assert duplicate.run("room.elements.length") == 0 and duplicate.run("JSON.stringify(sessionStorage)") != names
        assert second.run("navigator.locks.query().then(({ held }) => held.length)") == 3
        duplicate.close()
        second.run("client.connect()")
        eventually("it was sent", lambda: first.run("room.element('mine')?.type") == "note")
        eventually("nothing is kept", lambda: second.run(KEPT) == [])
        # As long as it takes until another tab would look after it.
        first.run("new Promise(resolve => setTimeout(resolve, 4000))")
        assert pipeline.assert_gapless(room) == 1
        first.close()
        second.close()


def test_a_page_that_slept_goes_on_unless_another_tab_sent_what_it_kept(browser, origin, room):
    with running("--origins", origin) as pipeline:
        first, second = Page(browser, origin), Page(browser, origin)
        open_client(first, pipeline.url, room)
        open_client(second, pipeline.url, room)
        second.run("client.disconnect(), room.create({ id: 'mine', type: 'note' }), 0")
        second.run("globalThis.errors = [], client.on('error', error => errors.push(error.message)), 0")
        eventually("it is saved", lambda: second.run(KEPT) == ["element:create"])
        for is_late in (False, True):
            load_again(second, f"{origin}/other")
            if is_late:
                eventually("the other tab sent it", lambda: first.run("room.elements.length") == 1)
            second.run("history.back(), 0")
            eventually("it is the former page", lambda: second.run("globalThis.isFormer"))
        eventually("it says so", lambda: second.run("errors") == ["Another tab sent what this one kept. Load it again."])
        second.run("client.connect(), 0")
        first.run("new Promise(resolve => setTimeout(resolve, 1000))")
        assert pipeline.assert_gapless(room) == 1
        first.close()
        second.close()


def test_a_page_that_can_keep_nothing_says_so(browser, single):
    page = Page(browser, single.url + BLANK)
    told = page.run(f"""(async () => {{
        const {{ TouchSync }} = await import({json.dumps(single.url + "/client/touchsync.js")});
        const {{ IndexedDBStore }} = await import({json.dumps(single.url + "/client/store.js")});
        const persistence = (errors = []) => new Promise(resolve => {{
            const client = new TouchSync({{ url: {json.dumps(single.url)}, store: new IndexedDBStore(), owner: "ada" }});
            client.on("error", error => errors.push(error.message));
            client.on("persistence", value => resolve(client.close().then(() => [value, client.persistence, ...errors])));
        }});
        const told = [await persistence()];
        indexedDB.constructor.prototype.open = () => {{
            throw new Error("private");
        }};
        told.push(await persistence());
        Object.defineProperty(navigator, "locks", {{ value: undefined }});
        return [...told, await persistence()];
    }})()""")
    assert told == [["ready", "ready"], ["unavailable", "unavailable", "private"], ["unavailable", "unavailable"]]
    page.close()


def test_the_example_works(browser, origin, clients):
    with running("--origins", origin) as pipeline:
        bob = clients(pipeline.url, "bob").enter("demo")
        page = Page(browser, f"{origin}/?{urllib.parse.quote(pipeline.url)}")
        eventually("it is connected", lambda: page.run("document.title") == "live")
        page.run("dispatchEvent(new MouseEvent('dblclick', { clientX: 200, clientY: 150 }))")
        eventually("bob sees the note", lambda: list(bob.positions("demo").values()) == [200])
        page.run("document.querySelector('div').style.zIndex = 7")
        bob.edit("demo", "transform", next(iter(bob.positions("demo"))), {"positionX": 300})
        eventually("it moves", lambda: page.run("document.querySelector('div').style.left") == "250px")
        levels = "[...document.querySelectorAll('div')].map(node => node.style.zIndex).join()"
        assert page.run(levels) == "7", "what moves lies where it lay"
        bob.edit("demo", "create", {"id": "other", "type": "note", "zIndex": -1})
        eventually("another one lies below", lambda: page.run(levels) == "1,0")
        bob.edit("demo", "update", "other", {"zIndex": 1})
        eventually("now above", lambda: page.run(levels) == "0,1")
        bob.edit("demo", "delete", "other")
        bob.edit("demo", "create", {"id": "odd", "type": "pin", "content": {"toString": 0}})
        eventually("any value is drawn", lambda: page.run("document.querySelector('div:last-of-type').textContent") == "pin")
        bob.edit("demo", "delete", "odd")
        page.run("dispatchEvent(new MouseEvent('dblclick', { clientX: 400, clientY: 150 }))")
        eventually("bob sees another note", lambda: sorted(bob.positions("demo").values()) == [300, 400])
        page.run("dispatchEvent(new KeyboardEvent('keydown', { key: 'z' }))")
        eventually("it is taken back", lambda: list(bob.positions("demo").values()) == [300])
        fingers_end(page, bob)
        page.close()


def fingers_end(page, bob):
    """What the system takes away, and a second finger, leave no gesture behind: the note is at 300, 150, and nobody moves it."""

    def touch(kind, *places):
        points = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(places)]
        page.browser.run("Input.dispatchTouchEvent", page.session, type=kind, touchPoints=points)

    def rests_at(left):
        [note] = bob.look("demo")["elements"]
        drawn = bob.look("demo")["drawn"][0]["positionX"]
        return drawn == note["positionX"] == left + 50 and page.run("document.querySelector('div').style.left") == f"{left}px"

    touch("touchStart", (300, 150))
    touch("touchMove", (340, 150))
    eventually("bob sees it move", lambda: bob.look("demo")["drawn"][0]["positionX"] > 300)
    touch("touchCancel")
    eventually("it is where it was", lambda: rests_at(250))
    touch("touchStart", (300, 150))
    touch("touchMove", (320, 150))
    touch("touchStart", (320, 150), (325, 155))
    touch("touchMove", (330, 150), (325, 155))
    touch("touchEnd", (325, 155))
    touch("touchEnd")
    eventually("it is where the first finger left it", lambda: rests_at(280))
    assert page.run("document.querySelector('div').style.left") == "280px"


def test_a_network_that_goes_and_is_back_counts_at_once(browsers, single, room):
    with network(single.url) as between:
        ada = ClientPage(browsers, between.url, userId="ada").enter(room)
        between.vanish()
        before = len(ada.events)
        # Nothing is unanswered: pings of the server would tell of it after more than half a minute.
        for is_offline, state in ((True, "offline"), (False, "live")):
            ada.browser.run(
                "Network.emulateNetworkConditions", ada.page.session, offline=is_offline, latency=0, downloadThroughput=-1,
                uploadThroughput=-1)
            ada.wait("state", lambda told, state=state: told == state, within=10, after=before)
        ada.close()


def imported(path):
    """JavaScript that imports a module, whose page needs no server of it."""
    return f"import(URL.createObjectURL(new Blob([{json.dumps(path.read_text())}], {{ type: 'text/javascript' }})))"


def alike(left, right):
    """Whether two values of JSON are the same but for the rounding of numbers."""
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(alike(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(alike, left, right))
    return left == right or isinstance(left, float | int) and math.isclose(left, right, rel_tol=1e-5, abs_tol=1e-9)


def test_depth_is_that_of_the_browser(browser, origin):
    """Tests/Depth/cases.json is what a browser says of elements that leave their plane; without the file it is made. Both
    clients are held to it."""
    file = HERE.parent / "Depth" / "cases.json"
    page = Page(browser, origin)
    browser.run(
        "Emulation.setDeviceMetricsOverride", page.session, width=1200, height=900, deviceScaleFactor=1, mobile=False)
    web = HERE.parents[1] / "Shared" / "Client" / "web"
    client, projection = ((web / name).read_text() for name in ("touchsync.js", "projection.js"))
    cases, wrong = page.run(f"""(async () => {{
        const address = text => URL.createObjectURL(new Blob([text], {{ type: "text/javascript" }}));
        const client = address({json.dumps(client)});
        const projection = await import(address({json.dumps(projection)}.replace("./touchsync.js", client)));
        const {{ differences, measure }} = await {imported(HERE / "depth.mjs")};
        const cases = measure(projection, 200);
        return [cases, differences(projection, cases)];
    }})()""")
    assert wrong == []
    if not file.exists():
        file.write_text("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]\n")
    assert alike(json.loads(file.read_text()), cases)
    assert sum(len(case.get("points", [])) for case in cases) > 300
    assert len({case.get("back") for case in cases}) == 3 and sum(len(case["corners"]) != 4 for case in cases) > 10
    page.close()


def test_animations_are_those_of_the_browser(browser, origin):
    golden = json.loads((HERE.parent / "Motion" / "golden.json").read_text())["cases"]
    cases = [case for case in golden if "animation" in case and not case["motion"]]
    page = Page(browser, origin)
    result = page.run(f"""(async () => {{
        const {{ shownAt }} = await {imported(HERE.parents[1] / "Shared" / "Client" / "web" / "touchsync.js")};
        const {{ compare, compareCurves }} = await {imported(HERE / "animations.mjs")};
        return [compare({{ shownAt, cases: {json.dumps(cases)} }}), compareCurves(shownAt)];
    }})()""")
    print(result)
    assert all(part["howMany"] == 0 for part in result), result
    page.close()
