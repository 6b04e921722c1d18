#!/bin/sh
# Runs the clients' tests against built programs.
#
#     Tests/Client/run.sh FOLDER [arguments of pytest]
#
# FOLDER holds touchsync and the four daemons, for example .build/debug. The client in Swift runs as built for debugging,
# by `swift build --build-tests` or `swift build --product client-driver`; TOUCHSYNC_CLIENT_DRIVER names another one.

# shellcheck source=Tests/suite.sh
. "$(dirname "$0")/../suite.sh"
find_programs touchsync "$@"
shift
# Built like the daemons, if it is there: `make test-long` measures it.
[ -n "${TOUCHSYNC_CLIENT_DRIVER:-}" ] || TOUCHSYNC_CLIENT_DRIVER=$TOUCHSYNC_PROGRAMS/client-driver
[ -x "$TOUCHSYNC_CLIENT_DRIVER" ] || TOUCHSYNC_CLIENT_DRIVER=$tests/../.build/debug/client-driver
export TOUCHSYNC_CLIENT_DRIVER
if [ ! -x "$TOUCHSYNC_CLIENT_DRIVER" ]; then
    echo "$0: there is no $TOUCHSYNC_CLIENT_DRIVER; swift build --product client-driver makes it" >&2
    exit 66
fi
install_packages nodejs node-ws node-typescript terser zopfli chromium node-react node-react-test-renderer
# Node's own packages bring it.
command -v npm >/dev/null || install_packages npm
run_pytest PipelineTests "$@"
