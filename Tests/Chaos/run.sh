#!/bin/sh
# Runs the chaos harness against built programs.
#
#     Tests/Chaos/run.sh FOLDER [arguments of chaos.py]
#     Tests/Chaos/run.sh FOLDER rows [arguments of pytest]
#     Tests/Chaos/run.sh FOLDER soak [arguments of soak.py]
#     Tests/Chaos/run.sh FOLDER visitors DESCRIPTION, see visitors.py
#
# FOLDER holds the four daemons and history-check, for example .build/release. What the harness needs of Python is
# installed once, in pinned versions, into .build-venv beside this script.

# shellcheck source=Tests/suite.sh
. "$(dirname "$0")/../suite.sh"
find_programs touchsync-gateway "$@"
shift
install_packages nodejs node-ws
python=$("$tests/venv.sh" "$here")
if [ "${1:-}" = rows ]; then
    shift
    cd "$here/rows"
    exec "$python" -m pytest "$@"
fi
if [ "${1:-}" = soak ]; then
    shift
    exec "$python" "$here/soak.py" "$@"
fi
if [ "${1:-}" = visitors ]; then
    shift
    exec "$python" "$here/visitors.py" "$@"
fi
exec "$python" "$here/chaos.py" "$@"
