#!/bin/sh
# Attacks a pipeline of built programs.
#
#     Tests/Hostile/run.sh FOLDER [arguments of hostile.py]
#
# FOLDER holds touchsync and the four daemons, for example .build/release. It needs Python 3.11 without packages, ip
# (installed when it is missing) and root: the strangers are in network namespaces of their own, because limits that
# count by address spare loopback.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 1 ] || [ ! -x "$1/touchsync" ]; then
    echo "usage: $0 FOLDER [arguments]; FOLDER must hold touchsync and the daemons" >&2
    exit 64
fi
command -v ip >/dev/null || "$here/../../deploy/install.sh" iproute2 >&2
TOUCHSYNC_PROGRAMS=$(cd "$1" && pwd)
export TOUCHSYNC_PROGRAMS
shift
exec python3 -B "$here/hostile.py" "$@"
