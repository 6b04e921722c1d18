#!/bin/sh
# Runs the suite against built programs.
#
#     Tests/PipelineTests/run.sh FOLDER [arguments of pytest]
#
# FOLDER holds touchsync, the four daemons and socketio-conformance-server, for example .build/debug. What the suite uses
# is installed once: Node, Chromium, Firefox, haproxy and nginx by apt, clients in pinned versions into .build-venv beside this script,
# Prometheus's tool into .build-programs in Tests.

# shellcheck source=Tests/suite.sh
. "$(dirname "$0")/../suite.sh"
find_programs touchsync "$@"
shift
install_packages nodejs node-ws node-xmlhttprequest node-typescript rollup terser chromium firefox-esr haproxy nginx jq
PROMTOOL=$(unpack_program prometheus promtool)
export PROMTOOL
run_pytest PipelineTests "$@"
