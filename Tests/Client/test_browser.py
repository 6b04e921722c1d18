"""The client in a browser: served by a gateway to a page of another origin, with its store and its lock."""

import http.server
import json
import math
import pathlib
import re
import threading
import urllib.parse

import pytest

from browser_pages import ClientPage, Page
from network import network
from pipeline import eventually, running

HERE = pathlib.Path(__file__).resolve().parent
README = pathlib.Path(__file__).resolve().parents[2] / "Shared" / "Client" / "README.md"


@pytest.fixture
def kind():
    """The other person's client."""
    return "web"


def open_client(page, url, room):
    """Makes a client with a store of its own user, in a room."""
    page.run(f"""(async () => {{
        const {{ TouchSync }} = await import({json.dumps(url + "/client/touchsync.js")});
        const {{ IndexedDBStore }} = await import({json.dumps(url + "/client/store.js")});
        globalThis.store = new IndexedDBStore();
        globalThis.client = new TouchSync({{ url: {json.dumps(url)}, userId: "ada", store, owner: "ada" }});
        globalThis.room = client.room({json.dumps(room)});
        client.connect();
        await room.joined;
    }})()""")


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


def test_edits_outlive_a_tab_and_belong_to_one_at_a_time(browser, origin, room):
    with running("--origins", origin) as pipeline:
        first, second = Page(browser, origin), Page(browser, origin)
        open_client(first, pipeline.url, room)
        first.run("room.create({ id: 'a', type: 'note' }).then(() => true)")
        open_client(second, pipeline.url, room)
        assert second.run("room.elements.map(element => element.id)") == ["a"]
        key = f"touchsync {pipeline.url} ada"
        assert second.run("navigator.locks.query().then(({ held }) => held.map(lock => lock.name))") == [key]

        first.run("client.disconnect(), room.preset('a', 'rotateCW'), room.preset('a', 'rotateCW'), 0")
        # The other tab has another edit, which is not kept.
        second.run("client.disconnect(), room.preset('a', 'flipX'), 0")
        saved = f"store.load({json.dumps(key)}).then(rooms => rooms?.[room.id]?.edits.map(edit => edit.body.preset))"
        eventually("both are saved", lambda: first.run(saved) == ["rotateCW", "rotateCW"])
        first.close()
        second.close()
        third = Page(browser, origin)
        open_client(third, pipeline.url, room)
        eventually("it was sent", lambda: third.run("room.pending === 0 && room.element('a').rotation") == 180)
        assert pipeline.assert_gapless(room) == 3


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
        page.close()


def test_a_network_that_is_back_is_asked_for(browsers, single, room):
    with network(single.url) as between:
        ada = ClientPage(browsers, between.url, userId="ada").enter(room)
        between.vanish()
        before = len(ada.events)
        for offline in (True, False):
            ada.browser.run(
                "Network.emulateNetworkConditions", ada.page.session, offline=offline, latency=0, downloadThroughput=-1,
                uploadThroughput=-1)
        # Nothing is unanswered: pings of the server would tell of it after more than half a minute.
        ada.wait("state", lambda state: state == "offline", within=15, after=before)
        ada.wait("state", lambda state: state == "live", after=before)
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
