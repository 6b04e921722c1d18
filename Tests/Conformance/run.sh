#!/bin/sh
# Runs the tests of this folder against a built conformance server.
#
#     Tests/Conformance/run.sh FOLDER [arguments of pytest]
#
# FOLDER holds socketio-conformance-server, for example .build/debug.

# shellcheck source=Tests/suite.sh
. "$(dirname "$0")/../suite.sh"
find_programs socketio-conformance-server "$@"
shift
CONFORMANCE_SERVER=$TOUCHSYNC_PROGRAMS/socketio-conformance-server
export CONFORMANCE_SERVER
run_pytest Conformance "$@"
