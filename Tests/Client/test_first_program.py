"""The first program of the page about the client in Swift, as printed."""

import re
import subprocess

import pytest

from conftest import HERE
from pipeline import eventually

ROOT = HERE.parents[1]
PAGE = ROOT / "Shared" / "TouchSyncClient" / "README.md"


@pytest.mark.long("it builds the client again; make test type-checks the same program, Tests/Apple/check.py")
@pytest.mark.timeout(1800)
def test_it_does_what_the_page_says(single, clients_of, tmp_path):
    package, program = re.findall(r"^```swift\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)[:2]
    url = '"http://127.0.0.1:8080"'
    assert program.count(url) == 1
    wall = tmp_path / "wall"
    (wall / "Sources" / "wall").mkdir(parents=True)
    (wall / "Package.swift").write_text(package)
    (wall / "Sources" / "wall" / "main.swift").write_text(program.replace(url, f'"{single.url}"'))
    # Beside this repository, and with the versions that are here already.
    (tmp_path / "touchsync").symlink_to(ROOT)
    (wall / "Package.resolved").write_bytes((ROOT / "Package.resolved").read_bytes())

    bob = clients_of("swift", single.url, "bob").enter("demo")
    done = subprocess.run(
        ["swift", "run", "--scratch-path", str(ROOT / ".build-first-program")], cwd=wall, capture_output=True, text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(r"\d+", done.stdout.split("\n")[-2]), done.stdout

    def notes():
        return [(note.get("content"), note["positionX"], note["positionY"]) for note in bob.look("demo")["elements"]]

    eventually("the note is where it was moved", lambda: ("Milk", 600, 200) in notes())
