"""The OCI archive of the package, as far as a machine without a container engine can try it: tools of others read and unpack
it, and its programs run as the image's user on the image's files."""

import json
import subprocess
import tarfile

import pytest
import requests

import ports
from manager import REPOSITORY
from pipeline import eventually

pytestmark = pytest.mark.long(why="builds the package and a Debian to put it in")


def said(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


@pytest.fixture(scope="module")
def archive(package):
    return said(REPOSITORY / "deploy/image.sh", package).strip().splitlines()[-1]


def test_the_image_holds_what_it_says(archive, version, tmp_path):
    read = json.loads(said("skopeo", "inspect", f"oci-archive:{archive}"))
    assert read["Labels"]["org.opencontainers.image.version"] == version and read["Architecture"] == "amd64"

    with tarfile.open(archive) as layout:
        layout.extractall(tmp_path / "layout", filter="data")
    said("umoci", "unpack", "--image", f"{tmp_path}/layout:{version}", tmp_path / "bundle")
    process = json.loads((tmp_path / "bundle/config.json").read_text())["process"]
    assert process["args"] == ["touchsync", "--help"] and process["user"]["uid"] != 0

    container = [
        "systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--as-pid2", "--pipe",
        f"--directory={tmp_path}/bundle/rootfs", "--user=touchsync"]
    assert "SUBCOMMANDS" in said(*container, *process["args"])
    for stage in ("gateway", "coalescer", "committer", "fanout"):
        assert version in said(*container, f"touchsync-{stage}", "--version")

    port = ports.free(2)
    settings = ["--admin-port", str(port), "--port", str(port + 1), "--coalescers", "c=tcp://127.0.0.1:1"]
    daemon = subprocess.Popen(
        [*container, "touchsync-gateway", *settings, "--committers", "d=tcp://127.0.0.1:1", "--fanouts", "f=tcp://127.0.0.1:1"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def is_alive():
        assert daemon.poll() is None
        try:
            return requests.get(f"http://127.0.0.1:{port}/healthz", timeout=5).status_code == 200
        except requests.ConnectionError:
            return False

    try:
        eventually("the daemon is alive", is_alive, within=30)
    finally:
        daemon.terminate()
        daemon.wait(30)
