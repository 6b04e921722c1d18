#!/bin/sh
# Makes .build-venv beside this script hold what requirements.txt names, and prints its interpreter. Does nothing more
# when it was made from the same requirements before.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv="$here/.build-venv"
stamp="$venv/requirements.txt"
if [ ! -x "$venv/bin/python" ] || ! cmp -s "$here/requirements.txt" "$stamp"; then
    rm -rf "$venv"
    if ! python3 -m venv "$venv" >&2; then
        rm -rf "$venv"
        echo "cannot make a virtual environment; on Debian: apt-get install python3-venv" >&2
        exit 69
    fi
    "$venv/bin/python" -m pip --disable-pip-version-check --quiet install -r "$here/requirements.txt" >&2
    cp "$here/requirements.txt" "$stamp"
fi
echo "$venv/bin/python"
