#!/usr/bin/env bash
# Stops the pipeline that runs in a data folder: stop.sh DIR
set -euo pipefail

lock=${1:-.touchsync}/lock
# The lock is held exactly while touchsync up runs.
if [ ! -e "$lock" ] || flock --nonblock --shared "$lock" true; then
    echo "nothing runs in ${1:-.touchsync}"
    exit 0
fi
pid=$(head -n 1 "$lock")
kill -TERM "$pid"
timeout 20 tail --pid="$pid" -f /dev/null || { echo "process $pid does not stop" >&2; exit 1; }
echo "stopped"
