"""How much of the canvas a browser has to load, and in how many steps: what a slow line makes people wait for."""

import pathlib
import re
import subprocess

import pytest
import requests

from canvas import CTRL, SHIFT, Canvas, create, note
from pipeline import eventually

PAGES = pathlib.Path(__file__).resolve().parents[2] / "Services" / "Gateway" / "Pages"
MOST_UNTIL_LIVE, MOST_IN_ALL = 75_000, 110_000
# All that was loaded, with its bytes as they came.
LOADED = """[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
    .filter(one => one.name.startsWith(location.origin) && !one.name.includes('/socket.io/'))
    .map(one => [new URL(one.name).pathname, one.encodedBodySize])"""


def size(single, path):
    """The bytes of a file on the way."""
    answer = requests.get(single.url + path, stream=True, timeout=10)
    assert answer.status_code == 200, path
    return len(answer.raw.read())


def test_a_page_is_live_with_few_bytes_in_three_steps(single, windows):
    ada = windows()
    loaded = dict(ada.ask(LOADED))
    # What nobody has to wait for.
    loaded.pop("/app/soon.js", None)
    # A browser may have some of them from an earlier test: then it tells the same size.
    until_live = sum(size(single, path) for path in loaded)
    print(f"{until_live} bytes in {len(loaded)} files until it is live")
    assert until_live <= MOST_UNTIL_LIVE
    # One step is the page, another what stands in it; the third comes while the room is joined.
    page = requests.get(single.url + "/", timeout=10).text
    assert set(loaded) - {"/", "/app/canvas.js"} <= set(re.findall(r'(?:href|src)="([^"]+)"', page))
    assert len(loaded) <= 8


def test_the_whole_page_is_small(single):
    files = [*re.findall(r'{"(/[^"]*)"', (PAGES / "Embedded" / "pages.c").read_text()),
             *(f"/client/{name}.js" for name in ("touchsync", "store", "projection"))]
    whole = sum(size(single, path) for path in files)
    print(f"{whole} bytes in all")
    assert whole <= MOST_IN_ALL


def test_what_is_served_is_made_of_the_sources(tmp_path):
    """join.mjs was run after the last change."""
    subprocess.run([PAGES / "join.mjs", tmp_path], check=True, timeout=110)
    served = PAGES / "served"
    assert sorted(path.name for path in served.iterdir()) == sorted(path.name for path in tmp_path.iterdir())
    for file in served.iterdir():
        assert file.read_text() == (tmp_path / file.name).read_text(), f"{file.name}: Services/Gateway/Pages/join.mjs makes it"


def pause(window, hear):
    """Has each request for the script that comes after the room wait, and tells its id."""
    session, listeners = window.window.session, window.browser.listeners
    others = listeners[session]

    def happened(method, parameters):
        if method == "Fetch.requestPaused":
            hear(parameters["requestId"])
        others(method, parameters)

    listeners[session] = happened
    window.window.command("Fetch.enable", patterns=[{"urlPattern": "*/app/soon.js"}])


@pytest.mark.parametrize("browser", ["chromium"], indirect=True)
def test_what_is_asked_for_early_comes_when_its_script_does(single, windows, room):
    """A room is live before the browser has the script of the help, the colours, the groups and of following."""
    create(single, room, note("a", 0, 0), note("b", 300, 0))
    ada, bob, held = windows(), windows(), []
    pause(bob, held.append)
    bob.reload()
    eventually("its script is on the way", lambda: held)
    bob.shows(2)
    bob.ask("document.getElementById('canvas').focus()")
    bob.key("a", CTRL)
    bob.key("g", CTRL)
    bob.key("c")
    bob.press("#faces .face")
    bob.key("?", SHIFT)
    assert bob.ask("document.querySelectorAll('#help-keys .row, #colours .swatch').length") == 0
    assert not any("groupId" in element for element in ada.stored.values())
    bob.window.command("Fetch.disable")
    eventually("both are in a group", lambda: len({one.get("groupId", id) for id, one in ada.stored.items()}) == 1)
    bob.wait("it follows", "document.getElementById('following').hidden === false")
    bob.wait("the help is there", "document.querySelectorAll('#help-keys .row').length > 20")
    bob.wait("there are colours", "document.querySelectorAll('#colours .swatch').length > 10")


@pytest.mark.parametrize("browser", ["chromium"], indirect=True)
def test_who_gets_a_part_of_the_page_is_told(single, browser, room):
    ada = Canvas(browser, single, room)
    session = ada.window.session
    # Its answer would come to the very thread that says so.
    pause(ada, lambda id: browser.send("Fetch.failRequest", session, requestId=id, errorReason="ConnectionReset"))
    ada.reload()
    ada.wait("she is told", "document.getElementById('toast')?.textContent.startsWith('A part of this page did not come.')")
    ada.key("n")
    ada.shows(1)
    ada.close()
