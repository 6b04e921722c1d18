#!/usr/bin/env bash
# Runs test phases: run.sh [PHASE]…, of lint model unit simulation live tsan fuzz conformance pipeline chaos
# One line for each phase, the failures in full, and last "N passed, N failed" over all of them. A phase that runs no
# test fails, and so does a skipped test: nothing is left out in silence.
set -uo pipefail
cd "$(dirname "$0")/.."

# Suites that wait for sockets, processes and timers. They run apart from the pure ones, and one after the other: on a
# small machine the work of others would make them late for their own deadlines.
SHELLS='^(MeshTests|BootTests|SocketIOTests|PostgresTests|OperatorTests)\.'
# The modules that share state between threads.
TSAN_FILTER='^(MeshTests|BootTests|SocketIOTests|PostgresTests|OperatorTests|GatewayTests|FanoutTests|CommitterTests)\.'
LOGS=.build/test-logs
mkdir -p "$LOGS"
passed=0 failed=0

# Adds a phase's counts and prints its line.
record() { # phase, passed, failed, seconds, log
    if [ "$2" -eq 0 ] && [ "$3" -eq 0 ]; then
        echo "$1: no test ran" >>"$5"
        set -- "$1" 0 1 "$4" "$5"
    fi
    passed=$((passed + $2)) failed=$((failed + $3))
    printf '%-11s %4d passed, %d failed in %d s\n' "$1" "$2" "$3" "$4"
    [ "$3" -eq 0 ] && return
    echo "--- $1: what failed (all of it in $5)"
    grep -aE '✘|error:| FAILED$|warning: data race|WARNING: ThreadSanitizer|SUMMARY|^(FAILED|ERROR)|Fatal error|no test ran|^➜|^lint:|^(VIOLATION|MISSING|chaos: FAILED)|violations [1-9]' "$5" |
        grep -v '^✘ Suite' | head -n 60
    echo "--- $1: its last lines"
    tail -n 25 "$5"
    echo '---'
}

# Counts of Swift Testing in a log: passed, failed. A run without its summary crashed, a skipped test counts as failed.
count_swift() { # log, exit code
    awk -v code="$2" '
        /^✘ Test / && / failed after / && !/^✘ Test run / { bad++ }
        /^➜ Test .* skipped/ { skipped++ }
        /^[^ ]+ Test run with [0-9]+ test/ { ran = 1; for (i = 1; i <= NF; i++) if ($i == "with" && !total) total = $(i + 1) }
        END {
            bad += skipped
            if (code != 0 && bad == 0) bad = 1
            if (!ran && bad == 0) bad = 1
            good = total - bad
            print (good > 0 ? good : 0), bad + 0
        }' "$1"
}

# Runs the built tests of a configuration.
swift_phase() { # phase, argument…
    local phase=$1 log=$LOGS/$1.log start=$SECONDS code
    shift
    swift test --skip-build --disable-xctest "$@" >"$log" 2>&1
    code=$?
    # shellcheck disable=SC2046
    record "$phase" $(count_swift "$log" $code) $((SECONDS - start)) "$log"
}

# Builds once for each configuration; a build that fails is one failed test of its phase.
build() { # phase, argument…
    local phase=$1 log=$LOGS/build-$1.log start=$SECONDS
    shift
    if swift build --build-tests "$@" >"$log" 2>&1; then
        printf '%-11s built in %d s\n' "$phase" $((SECONDS - start))
        return 0
    fi
    record "$phase" 0 1 $((SECONDS - start)) "$log"
    return 1
}

debug_built=
build_debug() {
    [ -n "$debug_built" ] || { build "$1" && debug_built=yes; }
}

phase_lint() {
    local log=$LOGS/lint.log start=$SECONDS
    if Tests/lint.sh >"$log" 2>&1; then record lint 1 0 $((SECONDS - start)) "$log"
    else record lint 0 1 $((SECONDS - start)) "$log"; fi
}

# Counts of our own scripts' last line, "N passed, N failed".
count_lines() { # log, exit code
    tail -n 1 "$1" | awk -v code="$2" '
        /^[0-9]+ passed, [0-9]+ failed$/ { good = $1; bad = $3 }
        END {
            if (code != 0 && bad == 0) bad = 1
            print good + 0, bad + 0
        }'
}

# Runs a script that counts for itself.
script_phase() { # phase, command…
    local phase=$1 log=$LOGS/$1.log start=$SECONDS code
    shift
    "$@" >"$log" 2>&1
    code=$?
    # shellcheck disable=SC2046
    record "$phase" $(count_lines "$log" $code) $((SECONDS - start)) "$log"
}

# Runs a pytest suite on the built programs, whose folder is its first argument.
pytest_phase() { # phase, script, further argument…
    local phase=$1 script=$2 log=$LOGS/$1.log start code
    shift 2
    build_debug "$phase" || return
    start=$SECONDS
    "$script" "$(swift build --show-bin-path)" "$@" >"$log" 2>&1
    code=$?
    # shellcheck disable=SC2046
    record "$phase" $(count_pytest "$log" $code) $((SECONDS - start)) "$log"
}

phase_model() { script_phase model Tests/Model/run.sh; }

phase_unit() {
    build_debug unit || return
    swift_phase pure --skip Live --skip "$SHELLS" --skip '^SimulationTests\.'
    swift_phase shells --filter "$SHELLS" --skip Live --no-parallel
}

# Worlds are what their seed says only if dictionaries have one order in every process.
phase_simulation() {
    build_debug simulation || return
    SWIFT_DETERMINISTIC_HASHING=1 swift_phase simulation --filter '^SimulationTests\.'
    grep -a ' worlds: ' "$LOGS/simulation.log"
}

phase_live() {
    build_debug live || return
    swift_phase live --filter Live --skip LiveFailoverTests
    # Pairs of servers, and deadlines of ten seconds: apart from the rest, which they would make late.
    swift_phase failover --filter LiveFailoverTests --no-parallel
}

phase_tsan() {
    # Backtraces of the Swift runtime make a sanitizer report take minutes.
    export SWIFT_BACKTRACE=enable=no TSAN_OPTIONS="halt_on_error=0 exitcode=66 ${TSAN_OPTIONS:-}"
    local options=(--scratch-path .build-tsan --sanitize=thread)
    # The test that ends a process of its own waits for any child, also for servers of other tests that nobody has asked
    # about yet; it has no threads to sanitize, and runs with the shells.
    build tsan "${options[@]}" && swift_phase tsan "${options[@]}" --filter "$TSAN_FILTER" --skip LiveFailoverTests \
        --skip foreignThreadsTrapInDebugBuilds --no-parallel
    unset SWIFT_BACKTRACE TSAN_OPTIONS
}

phase_pipeline() { pytest_phase pipeline Tests/PipelineTests/run.sh; }

phase_conformance() { pytest_phase conformance Tests/Conformance/run.sh; }

# A few seconds for each decoder; make fuzz runs for longer.
phase_fuzz() { script_phase fuzz Tests/Fuzz/run.sh 5; }

phase_chaos() {
    local log=$LOGS/chaos.log start
    build_debug chaos || return
    start=$SECONDS
    if Tests/Chaos/run.sh "$(swift build --show-bin-path)" --faults main --seconds 60 --clients 60 --pause 1.5 >"$log" 2>&1; then
        record chaos 1 0 $((SECONDS - start)) "$log"
    else
        record chaos 0 1 $((SECONDS - start)) "$log"
    fi
    grep -a '^counts:' "$log"
    pytest_phase rows Tests/Chaos/run.sh rows
}

# Counts of pytest's last line, such as "1 failed, 12 passed, 1 skipped in 3.21s".
count_pytest() { # log, exit code
    tail -n 1 "$1" | awk -v code="$2" '
        {
            for (i = 2; i <= NF; i++) {
                if ($i ~ /^passed/) good += $(i - 1)
                else if ($i ~ /^(failed|error|errors|skipped|xfailed|xpassed)/) bad += $(i - 1)
            }
        }
        END {
            if (code != 0 && bad == 0) bad = 1
            print good + 0, bad + 0
        }'
}

for phase in "$@"; do
    case $phase in
    lint | model | unit | simulation | live | tsan | fuzz | conformance | pipeline | chaos) "phase_$phase" ;;
    *) echo "unknown phase $phase" >&2; exit 2 ;;
    esac
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
