#!/usr/bin/env bash
# Runs what others wrote to test servers like ours: conformance.sh DIR
# The Autobahn cases for WebSocket, and the protocol suites of the Engine.IO and Socket.IO projects: every test-suite.js
# below DIR (engine.io-protocol/test-suite, socket.io-protocol/test-suite), as it is. They connect to localhost:3000.
# Prints "N passed, N failed" last.
#
# What the suites import comes from Debian (mocha, chai, ws) and from Tests/Conformance/modules, not from npm.
set -uo pipefail
[ $# -eq 1 ] && [ -d "$1" ] || { echo 'usage: make conformance SUITES=DIR' >&2; exit 2; }
suites=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
work=.build/conformance
port=3000
passed=0 failed=0 pid=

fail() { echo "conformance: $1" >&2; failed=$((failed + 1)); }

autobahn() {
    local log=$work/autobahn.log
    echo 'conformance: Autobahn'
    Tests/Conformance/run.sh "$programs" test_autobahn.py >"$log" 2>&1 || fail 'Autobahn'
    # What pytest counts are chapters; each one checks how many cases it had.
    tail -n 40 "$log"
    passed=$((passed + $(count passed "$log")))
}

count() { # word, log: the largest number before the word, as in "24 passing (4s)"
    grep -aoE "[0-9]+ $1" "$2" | awk '$1 > n { n = $1 } END { print n + 0 }'
}

# Runs a suite in a copy, so that Node finds our modules above it and nothing is left behind in the original.
suite() { # folder
    local name=${1#"$suites"/} copy log good bad code
    copy=$work/${name//\//-}
    log=$copy.log
    echo "conformance: $name"
    rm -rf "$copy"
    mkdir -p "$copy"
    cp "$1"/*.js "$1"/package.json "$copy"
    # A server of its own; its first line says that it listens.
    coproc SERVER { exec "$programs/socketio-conformance-server" --port $port; }
    pid=$SERVER_PID
    trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null' EXIT
    if read -rt 20 _ <&"${SERVER[0]}"; then
        # Tried twice: a test expects its own next request within 300 ms, and fails when a busy machine delays that.
        (cd "$copy" && NODE_PATH=/usr/share/nodejs timeout 300 mocha --exit --no-color --retries 1 test-suite.js) 2>&1 \
            </dev/null | tee "$log"
        code=${PIPESTATUS[0]}
        good=$(count passing "$log")
        # A test that is left out counts like one that fails, and so does a suite that ran none or broke off.
        bad=$(($(count failing "$log") + $(count pending "$log")))
        [ "$bad" -eq 0 ] && { [ "$code" -ne 0 ] || [ "$good" -eq 0 ]; } && bad=1
        passed=$((passed + good)) failed=$((failed + bad))
    else
        fail "the server does not listen on port $port"
    fi
    kill "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
}

mkdir -p "$work"
ln -sfn "$PWD/Tests/Conformance/modules" "$work/node_modules"
deploy/install.sh mocha chai node-ws || exit 1
swift build --product socketio-conformance-server || exit 1
programs=$(swift build --show-bin-path)

autobahn
ran=0
while read -r file; do
    suite "$(dirname "$file")"
    ran=$((ran + 1))
done < <(find "$suites" -maxdepth 3 -name test-suite.js -not -path '*/node_modules/*' | sort)
[ $ran -gt 0 ] || fail "no test-suite.js below $suites"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
