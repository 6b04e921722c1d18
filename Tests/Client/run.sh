#!/bin/sh
# Runs the client's tests against built programs.
#
#     Tests/Client/run.sh FOLDER [arguments of pytest]
#
# FOLDER holds touchsync and the four daemons, for example .build/debug.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 1 ] || [ ! -x "$1/touchsync" ]; then
    echo "usage: $0 FOLDER [arguments of pytest]; FOLDER must hold touchsync and the daemons" >&2
    exit 64
fi
TOUCHSYNC_PROGRAMS=$(cd "$1" && pwd)
export TOUCHSYNC_PROGRAMS
shift
"$here/../../deploy/install.sh" nodejs node-ws node-typescript chromium
python=$("$here/../PipelineTests/venv.sh")
cd "$here"
exec "$python" -m pytest "$@"
