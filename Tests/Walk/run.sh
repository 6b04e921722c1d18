#!/bin/sh
# Prints the way of one kind of record: run.sh [arguments of walk.py].
#
# The daemons are built in a folder of their own, with a counter for each function. A counter lives in a file that the
# process maps into its memory, so that it can be read while the process runs.

# shellcheck source=Tests/suite.sh
. "$(dirname "$0")/../suite.sh"
"$tests/../deploy/install.sh"
cd "$tests/.."
for program in touchsync touchsync-gateway touchsync-coalescer touchsync-committer touchsync-fanout; do
    deploy/swift-build.sh --scratch-path .build-walk --product "$program" -Xswiftc -profile-generate \
        -Xswiftc -profile-coverage-mapping -Xswiftc -Xllvm -Xswiftc -runtime-counter-relocation >&2
done
TOUCHSYNC_PROGRAMS=$PWD/.build-walk/debug
export TOUCHSYNC_PROGRAMS PYTHONPATH="$PYTHONPATH:$tests/PipelineTests"
exec "$("$tests/venv.sh" "$tests/PipelineTests")" -B "$here/walk.py" "$@"
