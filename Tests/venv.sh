#!/bin/sh
# Makes .build-venv in a folder hold what the requirements*.txt there name, and prints its interpreter: venv.sh FOLDER.
# Does nothing more when it was made from the same requirements before.
set -eu
folder=$(cd "$1" && pwd)
venv="$folder/.build-venv"
stamp="$venv/requirements"
# Suites that share a folder may start at the same time.
exec 9<"$folder"
flock 9
if [ ! -x "$venv/bin/python" ] || ! cat "$folder"/requirements*.txt | cmp -s - "$stamp"; then
    rm -rf "$venv"
    if ! python3 -m venv "$venv" >&2; then
        rm -rf "$venv"
        echo "cannot make a virtual environment; on Debian: apt-get install python3-venv" >&2
        exit 69
    fi
    pip() { "$venv/bin/python" -m pip --disable-pip-version-check --quiet "$@" >&2; }
    pip install -r "$folder/requirements.txt"
    [ ! -e "$folder/requirements-files.txt" ] || pip install --no-deps -r "$folder/requirements-files.txt"
    cat "$folder"/requirements*.txt >"$stamp"
fi
echo "$venv/bin/python"
