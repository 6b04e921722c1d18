#!/bin/sh
# Runs the clients' tests against built programs.
#
#     Tests/Client/run.sh FOLDER [arguments of pytest]
#
# FOLDER holds touchsync and the four daemons, for example .build/debug. The client in Swift runs as built for debugging,
# by `swift build --build-tests` or `swift build --product client-driver`; TOUCHSYNC_CLIENT_DRIVER names another one.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 1 ] || [ ! -x "$1/touchsync" ]; then
    echo "usage: $0 FOLDER [arguments of pytest]; FOLDER must hold touchsync and the daemons" >&2
    exit 64
fi
TOUCHSYNC_PROGRAMS=$(cd "$1" && pwd)
# Built like the daemons, if it is there: `make test-long` measures it.
[ -n "${TOUCHSYNC_CLIENT_DRIVER:-}" ] || TOUCHSYNC_CLIENT_DRIVER=$TOUCHSYNC_PROGRAMS/client-driver
[ -x "$TOUCHSYNC_CLIENT_DRIVER" ] || TOUCHSYNC_CLIENT_DRIVER=$here/../../.build/debug/client-driver
export TOUCHSYNC_PROGRAMS TOUCHSYNC_CLIENT_DRIVER
if [ ! -x "$TOUCHSYNC_CLIENT_DRIVER" ]; then
    echo "$0: there is no $TOUCHSYNC_CLIENT_DRIVER; swift build --product client-driver makes it" >&2
    exit 66
fi
shift
"$here/../../deploy/install.sh" nodejs node-ws node-typescript chromium
python=$("$here/../PipelineTests/venv.sh")
cd "$here"
exec "$python" -m pytest "$@"
