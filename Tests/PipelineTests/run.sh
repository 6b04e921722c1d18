#!/bin/sh
# Runs the suite against built programs.
#
#     Tests/PipelineTests/run.sh FOLDER [arguments of pytest]
#
# FOLDER holds touchsync, the four daemons and socketio-conformance-server, for example .build/debug. What the suite uses
# is installed once: Node, Chromium, haproxy and nginx by apt, clients in pinned versions into .build-venv beside this script,
# Prometheus's tool into .build-promtool.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 1 ] || [ ! -x "$1/touchsync" ]; then
    echo "usage: $0 FOLDER [arguments of pytest]; FOLDER must hold touchsync and the daemons" >&2
    exit 64
fi
TOUCHSYNC_PROGRAMS=$(cd "$1" && pwd)
export TOUCHSYNC_PROGRAMS
shift
"$here/../../deploy/install.sh" nodejs node-ws node-xmlhttprequest node-typescript chromium haproxy nginx
PROMTOOL=$("$here/promtool.sh")
export PROMTOOL
python=$("$here/venv.sh")
cd "$here"
exec "$python" -m pytest "$@"
