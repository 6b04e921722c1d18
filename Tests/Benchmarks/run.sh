#!/bin/sh
# Counts what the work of the hot cores costs, and compares it with `costs`.
#
#     Tests/Benchmarks/run.sh FOLDER [arguments of measure.py]
#
# FOLDER holds benchmarks, built as the product is: .build/release after make release.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 1 ] || [ ! -x "$1/benchmarks" ]; then
    echo "usage: $0 FOLDER [--update | --hot OPERATION]; FOLDER must hold benchmarks" >&2
    exit 64
fi
"$here/../../deploy/install.sh" valgrind binutils
program=$1/benchmarks
shift
exec python3 "$here/measure.py" "$program" "$@"
