"""The pages of settings and of bounds say what the programs do."""

import os
import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "Services" / "settings.py"


def test_the_pages_have_the_settings_of_the_programs():
    check = subprocess.run([sys.executable, SCRIPT, os.environ["TOUCHSYNC_PROGRAMS"], "--check"], capture_output=True, text=True)
    assert check.returncode == 0, check.stderr
