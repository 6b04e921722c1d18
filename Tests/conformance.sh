#!/usr/bin/env bash
# Runs what others wrote to test servers like ours: conformance.sh DIR
# The Autobahn cases for WebSocket, and the protocol suites of the Engine.IO and Socket.IO projects: every test-suite.js
# below DIR (engine.io-protocol/test-suite, socket.io-protocol/test-suite), as it is but for the two times at its head,
# which the server is given as well. They connect to localhost:3000.
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

# Runs the tests of a suite whose names contain a word, or all others, with the times between pings and for their answer
# that the suite and the server are given. The suite expects its own next request, or the next packet, within those.
part() { # copy, log, times in ms, argument of mocha…
    local copy=$1 log=$2 times=$3 good bad code
    shift 3
    sed -i -E "s/^(const PING_(INTERVAL|TIMEOUT)) = [0-9]+;/\1 = $times;/" "$copy/test-suite.js"
    if [ "$(grep -cE "^const PING_(INTERVAL|TIMEOUT) = $times;" "$copy/test-suite.js")" -ne 2 ]; then
        fail 'the suite does not say its times as it did'
        return
    fi
    # A server of its own; its first line says that it listens.
    coproc SERVER {
        exec "$programs/socketio-conformance-server" --port $port --ping-interval "$times" --ping-timeout "$times" \
            --connect-timeout 6000
    }
    pid=$SERVER_PID
    trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null' EXIT
    if read -rt 20 _ <&"${SERVER[0]}"; then
        (cd "$copy" && NODE_PATH=/usr/share/nodejs timeout 300 mocha --exit --no-color --timeout 30000 "$@" \
            test-suite.js) 2>&1 </dev/null | tee "$log"
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

# Runs a suite in a copy, so that Node finds our modules above it and nothing is left behind in the original. Its tests
# of pings must see three of them within 5 s; to all others pings are of no concern, and 300 ms too little on a busy
# machine.
suite() { # folder
    local name=${1#"$suites"/} copy
    copy=$work/${name//\//-}
    echo "conformance: $name"
    rm -rf "$copy"
    mkdir -p "$copy"
    cp "$1"/*.js "$1"/package.json "$copy"
    part "$copy" "$copy.log" 20000 --grep heartbeat --invert
    part "$copy" "$copy-heartbeat.log" 1200 --grep heartbeat
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
