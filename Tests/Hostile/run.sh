#!/bin/sh
# Attacks a pipeline of built programs.
#
#     Tests/Hostile/run.sh FOLDER [arguments of hostile.py]
#
# FOLDER holds touchsync and the four daemons, for example .build/release. It needs Python 3.11 without packages, ip
# (installed when it is missing) and root: the strangers are in network namespaces of their own, because limits that
# count by address spare loopback.

# shellcheck source=Tests/suite.sh
. "$(dirname "$0")/../suite.sh"
find_programs touchsync "$@"
shift
command -v ip >/dev/null || install_packages iproute2 >&2
exec python3 -B "$here/hostile.py" "$@"
