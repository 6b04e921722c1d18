#!/bin/sh
# Tests what an operator installs: units, package, rules for Prometheus. As root, because it installs in a root of its own.
#
#     Tests/Packaging/run.sh FOLDER [arguments of pytest]
#
# FOLDER holds touchsync and the four daemons, for example .build/release. What the tests need is installed by apt.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 1 ] || [ ! -x "$1/touchsync" ]; then
    echo "usage: $0 FOLDER [arguments of pytest]; FOLDER must hold touchsync and the daemons" >&2
    exit 64
fi
TOUCHSYNC_PROGRAMS=$(cd "$1" && pwd)
export TOUCHSYNC_PROGRAMS
shift
"$here/../../deploy/install.sh" systemd systemd-container debootstrap lintian jq skopeo umoci
PROMTOOL=$("$here/../PipelineTests/promtool.sh")
export PROMTOOL
KUBECTL=$("$here/kubectl.sh")
export KUBECTL
python=$("$here/../PipelineTests/venv.sh")
cd "$here"
exec "$python" -m pytest "$@"
