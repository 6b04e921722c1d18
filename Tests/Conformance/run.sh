#!/bin/sh
# Runs the tests of this folder against a built conformance server.
#
#     Tests/Conformance/run.sh FOLDER [arguments of pytest]
#
# FOLDER holds socketio-conformance-server, for example .build/debug.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 1 ] || [ ! -x "$1/socketio-conformance-server" ]; then
    echo "usage: $0 FOLDER [arguments of pytest]; FOLDER must hold socketio-conformance-server" >&2
    exit 64
fi
CONFORMANCE_SERVER=$(cd "$1" && pwd)/socketio-conformance-server
export CONFORMANCE_SERVER
shift
python=$("$here/../PipelineTests/venv.sh" "$here")
cd "$here"
exec "$python" -m pytest "$@"
