"""The package of the built programs."""

import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "PipelineTests"))

from manager import REPOSITORY  # noqa: E402

PROGRAMS = pathlib.Path(os.environ["TOUCHSYNC_PROGRAMS"])


def build_package(*version):
    """Builds it, of another version if one is given; returns its path."""
    # Of the package of a release only its size differs.
    environment = {**os.environ, "DPKG_DEB_COMPRESSOR_LEVEL": "1"}
    done = subprocess.run(
        [REPOSITORY / "deploy/debian/build.sh", PROGRAMS, *version], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return pathlib.Path(done.stdout.strip().splitlines()[-1])


@pytest.fixture(scope="session")
def package():
    return build_package()


@pytest.fixture(scope="session")
def version(package):
    return package.name.split("_")[1]
