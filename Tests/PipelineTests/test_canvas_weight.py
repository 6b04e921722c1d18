"""How much of the canvas a browser has to load, and in how many steps: what a slow line makes people wait for."""

import json
import pathlib
import re

import pytest
import requests

WEB = pathlib.Path(__file__).resolve().parents[2] / "Services" / "Gateway" / "Pages" / "web" / "canvas"
MOST_UNTIL_LIVE, MOST_IN_ALL = 100_000, 145_000
# All that was loaded, with its bytes as they came.
LOADED = """[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
    .filter(one => one.name.startsWith(location.origin) && !one.name.includes('/socket.io/'))
    .map(one => [new URL(one.name).pathname, one.encodedBodySize])"""


def size(single, path):
    """The bytes of a file on the way."""
    answer = requests.get(single.url + path, stream=True, timeout=10)
    return len(answer.raw.read())


def test_a_page_is_live_with_few_bytes_in_two_steps(single, windows):
    ada = windows()
    loaded = dict(ada.ask(LOADED))
    # What shows itself to who is new, when all else is there.
    loaded.pop("/app/tips.js", None)
    # A browser may have some of them from an earlier test: then it tells the same size.
    until_live = sum(size(single, path) for path in loaded)
    print(f"{until_live} bytes in {len(loaded)} files until it is live")
    assert until_live <= MOST_UNTIL_LIVE
    # One step is the page; all else stands in it.
    page = requests.get(single.url + "/", timeout=10).text
    assert set(loaded) - {"/"} <= set(re.findall(r'(?:href|src)="([^"]+)"', page))
    assert len(loaded) <= 16


def test_the_whole_page_is_small(single):
    files = ["", *(f"app/{path.name}" for path in WEB.iterdir() if path.suffix != ".html"),
             *(f"client/{name}.js" for name in ("touchsync", "store", "projection"))]
    whole = sum(size(single, f"/{path}") for path in files)
    print(f"{whole} bytes in all")
    assert whole <= MOST_IN_ALL


@pytest.mark.parametrize("browser", ["chromium"], indirect=True)
def test_what_is_served_is_what_stands_in_the_sources(single, windows):
    """Comments alone are gone, and each module gives what its source exports, in the bundle and under its address."""
    ada = windows()
    ada.ask("window.exported = {}")
    sources = {path.name: path.read_text() for path in WEB.glob("*.js") if path.name not in ("robots.js", "canvas.js")}
    for name, text in sources.items():
        ada.ask(f"import('/app/{name}').then(module => (exported[{json.dumps(name)}] = Object.keys(module).sort()))")
    ada.wait("all are loaded", f"Object.keys(exported).length === {len(sources)}")
    declared = {name: sorted(re.findall(r"^export (?:async )?(?:class|const|function\*?) ([\w$]+)", text, re.M))
                for name, text in sources.items()}
    assert ada.ask("exported") == declared
