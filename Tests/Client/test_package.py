"""The client as a package of npm: what a project outside the repository gets of it."""

import functools
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import threading
import urllib.parse

import pytest
import requests

from browser_pages import Page
from pipeline import eventually, running

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE / "package"
CLIENT = HERE.parent.parent / "Shared" / "Client"
# Where Debian has modules of Node.
MODULES = pathlib.Path("/usr/share/nodejs")
STRICT = "--strict --noEmit --target es2022 --lib es2022,dom".split()


def run(*command, folder):
    # Debian's modules find each other there, also in a Node from elsewhere.
    environment = os.environ | {"NODE_PATH": str(MODULES)}
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env=environment, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project that installed the package, without a network."""
    folder = tmp_path_factory.mktemp("project")
    tarball = run("npm", "pack", "--silent", "--pack-destination", folder, folder=CLIENT).strip()
    (folder / "package.json").write_text(json.dumps({"name": "app", "private": True, "type": "module"}))
    run("npm", "install", "--offline", "--no-audit", "--no-fund", folder / tarball, folder=folder)
    return folder


def test_it_has_the_modules_and_their_types_alone(project):
    installed = project / "node_modules" / "touchsync"
    files = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
    modules = {path.stem for path in (CLIENT / "web").glob("*.js")}
    expected = {f"web/{name}.js" for name in modules} | {f"types/{name}.d.ts" for name in modules}
    assert files == expected | {"package.json", "README.md"}
    package = json.loads((installed / "package.json").read_text())
    version = re.search(r'version = "(.*)"', (HERE.parents[1] / "Shared/Boot/Process/BuildInfo.swift").read_text())[1]
    assert package["version"] == version and "dependencies" not in package
    assert {entry["default"] for entry in package["exports"].values()} == {f"./web/{name}.js" for name in modules}


@pytest.mark.parametrize(("module", "resolution"), [("es2022", "node"), ("node16", "node16")])
def test_apps_are_checked_by_its_types(project, module, resolution):
    """Lines that must not compile say so, or the others would not."""
    (project / "app.ts").write_text((PACKAGE / "app.ts").read_text())
    run("tsc", *STRICT, "--module", module, "--moduleResolution", resolution, "app.ts", folder=project)


def test_types_and_modules_agree():
    run("tsc", "-p", PACKAGE, folder=PACKAGE)


def link(project, *names):
    """Gives a project modules of Debian."""
    for name in names:
        place = project / "node_modules" / name
        if not place.exists():
            place.symlink_to(MODULES / name)


def test_components_are_rendered_once_for_each_change(project, single):
    link(project, "react", "react-test-renderer", "ws")
    (project / "react.mjs").write_text((PACKAGE / "react.mjs").read_text())
    print(run("node", "react.mjs", single.url, folder=project))


@pytest.fixture
def wall(project):
    """Where the example's page is, which needs no build."""
    link(project, "react", "react-dom")
    shutil.copytree(CLIENT / "examples" / "web", project, dirs_exist_ok=True)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=project)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_the_wall_in_react_works(browsers, wall):
    with running("--origins", wall) as pipeline:
        pages = [
            Page(browsers[user], f"{wall}/?user={user}&server={urllib.parse.quote(pipeline.url)}") for user in ("ada", "bob")
        ]
        ada, bob = pages

        def text(page, what):
            return page.run(f"document.getElementById({json.dumps(what)})?.textContent")

        def mouse(page, kind, x, y, count=1):
            page.browser.run(
                "Input.dispatchMouseEvent", page.session, type=kind, x=x, y=y, button="left", buttons=1, clickCount=count)

        for page, other in ((ada, "bob"), (bob, "ada")):
            eventually("it is connected", lambda page=page: text(page, "state") == "live")
            eventually("it shows who else is there", lambda page=page, other=other: text(page, "others") == other)
        for count in (1, 2):
            mouse(ada, "mousePressed", 300, 200, count)
            mouse(ada, "mouseReleased", 300, 200, count)
        left = "document.querySelector('.note')?.style.left"
        eventually("bob sees the note", lambda: bob.run(left) == "220px")
        # Text as it is written, here as there.
        ada.run("document.querySelector('textarea').focus()")
        ada.browser.run("Input.insertText", ada.session, text="Hello")
        written = "document.querySelector('textarea').value"
        assert ada.run(written) == "Hello"
        eventually("bob reads it", lambda: bob.run(written) == "Hello")
        # A movement, while it goes on and when it is done.
        mouse(ada, "mousePressed", 300, 130)
        mouse(ada, "mouseMoved", 350, 130)
        mouse(ada, "mouseMoved", 400, 130)
        eventually("bob sees it move", lambda: bob.run(left) == "320px")
        mouse(ada, "mouseReleased", 400, 130)
        stored = f"{pipeline.url}/api/rooms/wall"
        eventually("it is stored", lambda: requests.get(stored, timeout=5).json()["seq"] == 3)
        assert bob.run(left) == "320px"
        ada.run("document.getElementById('undo').click()")
        eventually("it is taken back", lambda: bob.run(left) == "220px")
        for page in pages:
            page.close()
