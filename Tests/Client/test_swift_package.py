"""The client as a package of Swift: what a project outside the repository makes of it."""

import re
import shutil
import subprocess

import pytest

from conftest import HERE
from pipeline import eventually, running

ROOT = HERE.parents[1]
PAGE = ROOT / "Shared" / "TouchSyncClient" / "README.md"
EXAMPLE = ROOT / "Shared" / "Client" / "examples" / "swiftui"
REPOSITORY = "../../../.."

pytestmark = [
    pytest.mark.long("it builds the client again; make test type-checks the same programs, Tests/Apple/check.py"),
    pytest.mark.timeout(1800),
]


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """Where projects have this repository beside them."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "touchsync").symlink_to(ROOT)
    return folder


def swift(command, project):
    """Builds a project, or runs it, too, with the versions that are here already; returns what it says."""
    (project / "Package.resolved").write_bytes((ROOT / "Package.resolved").read_bytes())
    done = subprocess.run(
        ["swift", command, "--scratch-path", str(ROOT / ".build-outside")], cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def notes(client, room):
    return [
        (note.get("content"), note["positionX"], note["positionY"]) for note in client.look(room)["elements"]
    ]


def test_the_first_program_does_what_its_page_says(single, clients_of, outside):
    package, program = re.findall(r"^```swift\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)[:2]
    url = '"http://127.0.0.1:8080"'
    assert program.count(url) == 1
    wall = outside / "wall"
    (wall / "Sources" / "wall").mkdir(parents=True)
    (wall / "Package.swift").write_text(package)
    (wall / "Sources" / "wall" / "main.swift").write_text(program.replace(url, f'"{single.url}"'))

    bob = clients_of("swift", single.url, "bob").enter("demo")
    said = swift("run", wall)
    assert re.fullmatch(r"\d+", said.split("\n")[-2]), said
    eventually("the note is where it was moved", lambda: ("Milk", 600, 200) in notes(bob, "demo"))


def test_the_wall_in_swiftui_works_but_for_its_views(clients_of, outside, tmp_path):
    """Its views are for Apple's platforms: another program does with the model what they do."""
    project = outside / "swiftui"
    shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns(".build"))
    sources = project / "Sources" / "wall"
    (sources / "WallApp.swift").unlink()
    shutil.copy(HERE / "wall.swift", sources / "main.swift")
    package = (project / "Package.swift").read_text()
    assert package.count(f'"{REPOSITORY}"') == 1 and (EXAMPLE / REPOSITORY).resolve() == ROOT
    (project / "Package.swift").write_text(package.replace(REPOSITORY, str(outside / "touchsync")))
    swift("build", project)

    def ada(what):
        return [str(ROOT / ".build-outside" / "debug" / "wall"), pipeline.url, str(tmp_path / "edits"), what]

    def is_saved():
        return any('"Milk"' in file.read_text() for file in (tmp_path / "edits").rglob("*.json"))

    with running() as pipeline:
        pipeline.stop()
        alone = subprocess.Popen(ada("alone"))
        try:
            eventually("what was written without a server is saved", is_saved)
        finally:
            alone.kill()
            alone.wait()
        pipeline.start()
        bob = clients_of("swift", pipeline.url, "bob", name="Bob").enter("wall")
        together = subprocess.Popen(ada("together"))
        try:
            eventually("bob sees where ada moved it", lambda: notes(bob, "wall") == [("Milk", 300, 100)])
            bob.edit("wall", "update", bob.look("wall")["elements"][0]["id"], {"content": "Bread"})
            assert together.wait(20) == 0
        finally:
            together.kill()
            together.wait()
        eventually("ada's edits are undone, bob's is not", lambda: notes(bob, "wall") == [("Bread", 200, 100)])
