#!/bin/sh
# What the run.sh of a suite begins with, which sources it. The first argument of run.sh is FOLDER, which holds the built
# programs: .build/debug, for example.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tests=$(dirname "$here")
# What suites share of Python.
export PYTHONPATH="$tests/PythonKit"

# Exports FOLDER as TOUCHSYNC_PROGRAMS, if it holds a program.
find_programs() { # program, arguments of run.sh…
    if [ $# -lt 2 ] || [ ! -x "$2/$1" ]; then
        echo "usage: $0 FOLDER [arguments]; FOLDER holds the built programs, $1 among them" >&2
        exit 64
    fi
    TOUCHSYNC_PROGRAMS=$(cd "$2" && pwd)
    export TOUCHSYNC_PROGRAMS
}

# Installs packages of Debian that are missing.
install_packages() { # package…
    "$tests/../deploy/install.sh" "$@"
}

# Unpacks a program of a package of Debian into .build-programs beside this script, once, and prints its path. The package
# is not installed: it would start a server, or replace another version.
unpack_program() { # package, program
    folder=$tests/.build-programs
    # Another suite may want it at the same time.
    exec 9<"$tests"
    flock 9
    if [ ! -x "$folder/usr/bin/$2" ]; then
        mkdir -p "$folder"
        (
            cd "$folder"
            apt-get download "$1" || { apt-get update && apt-get download "$1"; }
            dpkg --fsys-tarfile "$1"_*.deb | tar -x "./usr/bin/$2"
            rm -f "$1"_*.deb
        ) >&2
    fi
    echo "$folder/usr/bin/$2"
}

# Runs pytest in the suite's folder, with the packages in pinned versions that a folder of Tests names.
run_pytest() { # folder with requirements.txt, arguments of pytest…
    python=$("$tests/venv.sh" "$tests/$1")
    shift
    cd "$here"
    exec "$python" -m pytest "$@"
}
