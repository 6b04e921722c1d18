"""Pictures of the canvas at `/` that the app's own server keeps: how they come there, what the page makes of its answers,
and where they are shown."""

import base64
import contextlib
import http.server
import json
import threading
import urllib.parse

import pytest
import requests

from canvas import PICTURES, Canvas, create, photo
from conftest import SECRET, claims, signed
from page import Page
from pipeline import eventually
from test_canvas_time import downloads, export


class Store(http.server.BaseHTTPRequestHandler):
    """The app's own server, which keeps pictures. A test chooses how it answers."""

    def answer(self, status, body=b"", **fields):
        self.send_response(status)
        if self.server.shares or self.command != "GET":
            self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Allow-Headers", "authorization, content-type")
        for name, value in {"Content-Length": len(body), **fields}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body)

    def do_OPTIONS(self):
        self.answer(204)

    def do_GET(self):
        self.server.seen.append(self.path)
        kind, body = self.server.pictures.get(self.path, ("text/plain", None))
        self.answer(404 if body is None else 200, body or b"", Content_Type=kind)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        address = urllib.parse.urlsplit(self.path)
        self.server.asked.append((urllib.parse.parse_qs(address.query), self.headers, body))
        path = f"/pictures/{len(self.server.pictures)}"
        self.server.pictures[path] = (self.headers["Content-Type"], body)
        with contextlib.suppress(ConnectionError):
            self.server.reply(self, path)

    def log_message(self, *_):
        pass


def says(text, status=200):
    return lambda request, _: request.answer(status, text.encode())


@contextlib.contextmanager
def serving():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Store)
    server.address, server.over = f"http://127.0.0.1:{server.server_address[1]}", threading.Event()
    server.pictures, server.asked, server.seen, server.shares = {}, [], [], True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.over.set()
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def server():
    with serving() as server:
        yield server


@pytest.fixture
def store(server):
    """The app's server, as it is when all is well."""
    server.pictures.clear(), server.asked.clear()
    server.shares = True
    server.reply = lambda request, path: request.answer(200, json.dumps({"url": path}).encode())
    return server


@pytest.fixture(scope="module")
def keeping(beside, server):
    """A pipeline whose pages send pictures to the app's server."""
    with beside("--upload-url", f"{server.address}/upload?app=1", environment={"TOUCHSYNC_JWT_SECRET": SECRET}) as pipeline:
        yield pipeline


class Window(Page):
    """A window of the canvas, with a token."""

    def __init__(self, browser, pipeline, room, **rights):
        self.pipeline, self.room = pipeline, room
        self.token = signed(claims(**{"sub": "ada", "rooms": {room: "commit"}, **rights}))
        super().__init__(browser, f"{pipeline.url}/app/mark.svg")
        self.ask(f"sessionStorage.setItem('touchsync token', {json.dumps(json.dumps(self.token))})")
        self.ask("localStorage.setItem('touchsync hinted', 'true')")
        self.open(f"{pipeline.url}/?room={room}")
        self.wait("it is in the room", "document.getElementById('state').textContent.includes(' here')")

    @property
    def stored(self):
        fields = {"Authorization": f"Bearer {self.token}"}
        answer = requests.get(f"{self.pipeline.url}/api/rooms/{self.room}", headers=fields, timeout=10)
        return answer.json().get("elements", [])

    def drop_picture(self, width=300, height=150):
        """Drops the file of a picture that is red on the left and blue on the right."""
        self.ask(f"""(async () => {{
            const canvas = new OffscreenCanvas({width}, {height}), brush = canvas.getContext('2d'), transfer = new DataTransfer();
            for (const [colour, x] of [['#f00', 0], ['#00f', {width / 2}]]) brush.fillStyle = colour, brush.fillRect(x, 0, {width / 2}, {height});
            transfer.items.add(new File([await canvas.convertToBlob()], 'flag.png', {{ type: 'image/png' }}));
            const options = {{ dataTransfer: transfer, clientX: 640, clientY: 400, bubbles: true, cancelable: true }};
            document.getElementById('canvas').dispatchEvent(new DragEvent('drop', options));
        }})()""")

    def told(self, words, within=20):
        self.wait(f"it says: {words}", f"document.getElementById('toast').textContent.includes({json.dumps(words)})", within)
        self.ask("document.getElementById('toast').textContent = ''")


@pytest.fixture
def window(browser):
    made = []

    def make(*arguments, **rights):
        made.append(Window(browser, *arguments, **rights))
        return made[-1]

    yield make
    for one in made:
        one.close()


COLOURS = """(async () => {
    const image = new Image(), canvas = new OffscreenCanvas(300, 150);
    const brush = canvas.getContext('2d', { willReadFrequently: true });
    image.src = %s;
    await image.decode();
    brush.drawImage(image, 0, 0, canvas.width, canvas.height);
    const at = x => [...brush.getImageData(x * canvas.width, canvas.height / 2, 1, 1).data].map(one => (one > 128 ? 1 : 0));
    window.found = [at(0.25), at(0.75)];
})()"""
RED_AND_BLUE = [[1, 0, 0, 1], [0, 0, 1, 1]]


def test_pictures_are_kept_by_the_apps_server(keeping, store, window, room, tmp_path):
    pipeline = keeping
    policy = requests.get(pipeline.url, timeout=10).headers["content-security-policy"]
    assert f"connect-src 'self' {store.address};" in policy and f"img-src 'self' data: {store.address};" in policy
    settings = requests.get(f"{pipeline.url}/app/settings.json", timeout=10).json()
    assert settings == {"uploadUrl": f"{store.address}/upload?app=1", "pictureOrigins": [store.address]}
    ada, bob = window(pipeline, room), window(pipeline, room, sub="bob", rooms={room: "view"})
    ada.drop_picture()
    [one] = eventually("it is stored", lambda: ada.stored)
    assert one["type"] == "photo" and one["picture"] == f"{store.address}/pictures/0" and one["title"] == "flag"
    [(query, fields, body)] = store.asked
    assert query == {"app": ["1"], "room": [room]} and fields["Authorization"] == f"Bearer {ada.token}"
    assert fields["Content-Type"].startswith("image/") and 0 < len(body) <= 1 << 20
    for who in (ada, bob):
        who.wait("it is shown", f"document.querySelector('.element img')?.src === '{one['picture']}' && document.querySelector('.element img').naturalWidth === 300")
    ada.picture(PICTURES / "canvas-upload.png")
    # A file has the picture in it.
    file = downloads(ada, tmp_path)
    export(ada, "exportSvg")
    text = file(f"{room}-selection.svg").decode()
    assert store.address not in text
    ada.ask(COLOURS % json.dumps("data:image/svg+xml," + urllib.parse.quote(text)))
    assert ada.wait("it is drawn", "window.found") == RED_AND_BLUE
    ada.told("Exported 1 element.")
    export(ada, "exportPng")
    assert file(f"{room}-selection.png").startswith(b"\x89PNG")
    # Who may only look sends nothing.
    bob.drop_picture()
    bob.told("You may look")
    assert len(store.asked) == 1 and len(ada.stored) == 1
    assert ada.complaints == bob.complaints == []


def test_a_file_says_which_pictures_it_lacks(keeping, store, window, room, tmp_path):
    store.shares = False
    ada = window(keeping, room)
    ada.drop_picture()
    ada.wait("it is shown without CORS", "document.querySelector('.element img')?.naturalWidth === 300")
    file = downloads(ada, tmp_path)
    export(ada, "exportPng")
    ada.told("1 picture left out: the app's server does not let pages copy them.")
    assert file(f"{room}-selection.png").startswith(b"\x89PNG")


def test_odd_answers_of_the_apps_server_are_told_and_store_nothing(keeping, store, window, room):
    ada = window(keeping, room)

    def refused(words, reply):
        store.reply = reply
        ada.drop_picture()
        ada.told(words)

    unreadable, no_address = "answers what this page cannot read", "gives no address of a picture that this page may show"
    for text in ("", "<html>", '{"url":'):
        refused(unreadable, says(text))
    for answer in (
        None, [], 7, {}, {"url": None}, {"url": 7}, {"url": ""}, {"url": "javascript:alert(1)"}, {"url": "data:image/png;base64,AAAA"},
        {"url": "https://a.example/a.png"}, {"url": store.address.replace("http:", "https:") + "/a"}, {"url": "//a.example/a.png"},
        {"url": store.address.replace("//", "//user:secret@") + "/a"}, {"url": "/" + "a" * 2048}, {"url": ["/a"]},
    ):
        refused(no_address, says(json.dumps(answer)))
    refused("The app does not let you do this.", says("{}", 403))
    refused("It is too large for the app.", says("{}", 413))
    refused("could not do it (500)", says("{}", 500))
    refused("cannot be reached", lambda request, _: request.answer(307, Location="/upload"))
    refused("cannot be reached", lambda request, _: request.connection.close())
    refused("answers too much", says('"' + "a" * 100_000 + '"'))
    # One that does not answer: its patience is shorter here.
    ada.ask("(later => (AbortSignal.timeout = ms => later.call(AbortSignal, ms === 30000 ? 300 : ms)))(AbortSignal.timeout)")
    refused("does not answer", lambda *_: store.over.wait(60))
    assert ada.stored == []
    # And it goes on.
    store.reply = lambda request, path: request.answer(200, json.dumps({"url": store.address + path}).encode())
    ada.drop_picture()
    ada.wait("it is shown", "document.querySelector('.element img')?.naturalWidth === 300")
    [one] = eventually("it is stored", lambda: ada.stored)
    assert one["picture"].startswith(f"{store.address}/pictures/")


def test_only_pictures_of_the_named_origins_are_shown(beside, browser, store, room):
    with serving() as other, beside("--picture-origins", store.address) as pipeline:
        dot = base64.b64decode("R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=")
        store.pictures["/here"] = other.pictures["/there"] = ("image/gif", dot)
        addresses = (f"{store.address}/here", f"{other.address}/there", "https://a.example/a.png", f"{store.address}/gone")
        create(pipeline, room, *(photo(f"p{index}", index * 250 - 400, 0, picture=one) for index, one in enumerate(addresses)))
        refused = requests.post(f"{pipeline.url}/api/rooms/{room}/elements", json={"elements": [photo("x", 0, 0, picture="javascript:1")]}, timeout=10)
        assert refused.status_code == 400 and refused.json()["error"]["field"] == "elements[0].picture"
        ada = Canvas(browser, pipeline, room)
        try:
            ada.shows(4)
            here, there, far, gone = (f"document.querySelector('.element[data-id=p{index}] img')" for index in range(4))
            ada.wait("it is shown", f"{here}.src === '{store.address}/here' && {here}.naturalWidth === 1")
            for image in (there, far):
                ada.wait("another picture is shown", f"{image}.getAttribute('src') === '/app/mountains.svg'")
            ada.wait("it says what is missing", f"{gone}.alt === 'This picture is not there now.'")
            assert other.seen == [] and not any("violation" in complaint for complaint in ada.complaints)
        finally:
            ada.close()
