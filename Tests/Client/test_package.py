"""The client as a package of npm: what a project outside the repository gets of it."""

import json
import os
import pathlib
import re
import subprocess

import pytest

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


def test_components_are_rendered_once_for_each_change(project, single):
    for name in ("react", "react-test-renderer", "ws"):
        (project / "node_modules" / name).symlink_to(MODULES / name)
    (project / "react.mjs").write_text((PACKAGE / "react.mjs").read_text())
    print(run("node", "react.mjs", single.url, folder=project))
