#!/bin/sh
# Runs the chaos harness against built programs.
#
#     Tests/Chaos/run.sh FOLDER [arguments of chaos.py]
#     Tests/Chaos/run.sh FOLDER rows [arguments of pytest]
#
# FOLDER holds the four daemons and history-check, for example .build/release. What the harness needs of Python is
# installed once, in pinned versions, into .build-venv beside this script.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 1 ] || [ ! -x "$1/touchsync-gateway" ]; then
    echo "usage: $0 FOLDER [arguments]; FOLDER must hold the daemons" >&2
    exit 64
fi
TOUCHSYNC_PROGRAMS=$(cd "$1" && pwd)
export TOUCHSYNC_PROGRAMS
shift
"$here/../../deploy/install.sh" nodejs node-ws
python=$("$here/venv.sh")
if [ "${1:-}" = rows ]; then
    shift
    cd "$here/rows"
    exec "$python" -m pytest "$@"
fi
exec "$python" "$here/chaos.py" "$@"
