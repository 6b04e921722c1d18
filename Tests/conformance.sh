#!/usr/bin/env bash
# Runs the protocol suites of the Socket.IO and Engine.IO projects against our server: conformance.sh DIR
# Below DIR lies a folder for each suite, with a package.json whose "test" script connects to localhost:3000.
set -euo pipefail
[ $# -eq 1 ] && [ -d "$1" ] || { echo 'usage: make conformance SUITES=DIR' >&2; exit 2; }
suites=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."

command -v npm >/dev/null || { echo 'conformance: npm is missing (apt-get install npm)' >&2; exit 1; }
swift build --product socketio-conformance-server
server=$(swift build --show-bin-path)/socketio-conformance-server

ran=0 bad=0
while read -r manifest; do
    folder=$(dirname "$manifest")
    echo "conformance: ${folder#"$suites"/}"
    # A server of its own for each suite; its first line says that it listens.
    coproc SERVER { exec "$server" --port 3000; }
    trap 'kill $SERVER_PID 2>/dev/null || true' EXIT
    read -rt 10 _ <&"${SERVER[0]}" || { echo 'conformance: the server does not listen' >&2; exit 1; }
    (cd "$folder" && { [ -d node_modules ] || npm install --silent; } && npm test) </dev/null || bad=$((bad + 1))
    pid=$SERVER_PID
    kill "$pid"
    wait "$pid" 2>/dev/null || true
    ran=$((ran + 1))
done < <(find "$suites" -maxdepth 3 -name package.json -not -path '*/node_modules/*' | sort)

echo "$((ran - bad)) suites passed, $bad failed"
[ "$ran" -gt 0 ] && [ "$bad" -eq 0 ]
