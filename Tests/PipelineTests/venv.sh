#!/bin/sh
# Makes .build-venv in a folder (this script's, if none is given) hold what the requirements*.txt there name, and prints
# its interpreter: venv.sh [FOLDER]. Does nothing more when it was made from the same requirements before.
set -eu
here=$(cd "${1:-$(dirname "$0")}" && pwd)
venv="$here/.build-venv"
stamp="$venv/requirements"
if [ ! -x "$venv/bin/python" ] || ! cat "$here"/requirements*.txt | cmp -s - "$stamp"; then
    rm -rf "$venv"
    if ! python3 -m venv "$venv" >&2; then
        rm -rf "$venv"
        echo "cannot make a virtual environment; on Debian: apt-get install python3-venv" >&2
        exit 69
    fi
    pip() { "$venv/bin/python" -m pip --disable-pip-version-check --quiet "$@" >&2; }
    pip install -r "$here/requirements.txt"
    [ ! -e "$here/requirements-files.txt" ] || pip install --no-deps -r "$here/requirements-files.txt"
    cat "$here"/requirements*.txt >"$stamp"
fi
echo "$venv/bin/python"
