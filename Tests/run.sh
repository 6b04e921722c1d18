#!/usr/bin/env bash
# Runs test phases: run.sh [PHASE]…, of lint model pure shells simulation live tsan fuzz conformance pipeline client packaging
# chaos rows hostile timed
#
# Everything is built once for each configuration that the phases need. Phases that wait for sockets, processes and timers
# run one after the other, at most two at once; beside them runs what only computes, with what they leave of the
# processors. One line for each phase, the failures in full, and last "N passed, N failed" over all of them. A phase that
# runs no test fails, and so does a skipped test: nothing is left out in silence.
#
#     LONG=1    drills of the length that `make test-long` is for, see the phases; daemons run as built for release
#     BUSY=1    one core is kept busy meanwhile
set -uo pipefail
cd "$(dirname "$0")/.."

# Suites that wait for sockets, processes and timers. They run apart from the pure ones, and one after the other: on a
# small machine the work of others would make them late for their own deadlines. In those of THREADS, threads share
# something; in the others there is one, or each has its own end of a socket.
THREADS='^(MeshTests|BootTests|MonitorTests|SocketIOTests|TouchSyncClientTests)\.'
THREADS+='|^(CommitterTests\.CommitterServiceTests|CoalescerTests\.DaemonTests)'
UNSHARED='^(PostgresTests|OperatorTests)\.|^BenchTests\.BenchRunTests|^GatewayTests\.GuestReactorTests'
# What the thread sanitizer watches; Package.swift has the same for its build.
TSAN_FILTER="$THREADS|^FanoutTests\.LiveTests"
# What runs with the shells instead. The test that ends a process of its own waits for any child, also for servers of other
# tests that nobody has asked about yet. The sanitizer's allocator gives no memory back.
UNSANITIZED='foreignThreadsTrapInDebugBuilds|freePagesBetweenUsedOnesGoBack'
LOGS=.build/test-logs
# A line "passed failed" for each phase.
RESULTS=$LOGS/results
# What failed in any of them, for the end: far above, other phases wrote in between.
FAILURES=$LOGS/failures
mkdir -p "$LOGS"
: >"$RESULTS"
: >"$FAILURES"
rm -f "$LOGS/tsan.built"
phases=("$@")
LONG=${LONG:-}
# The daemons that clients and faults meet.
bin=.build/debug
[ -z "$LONG" ] || bin=.build/release
# Reports name lines, and nothing reads variables. A module is compiled as a whole, which is less work for the compiler
# than file by file; nobody waits for the change of a single file in this build.
TSAN=(env TOUCHSYNC_SANITIZED=1 "CC=$PWD/Tests/reusing-clang.sh" swift build --build-tests --scratch-path .build-tsan
    --sanitize=thread -debug-info-format none -Xswiftc -gline-tables-only
    -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 1)
# What stands before a command that is to leave the processors to others.
BEHIND=()
# Tests of which another phase has shown the same in another way are for LONG only; those that measure time, in two of the
# suites, have a phase of their own there.
SHORT=()
UNTIMED=(-m 'not timed')
[ "$LONG" ] || SHORT=(-m 'not long') UNTIMED=(-m 'not long and not timed')

wants() { # phase…: true when one of them is to be run
    local phase
    for phase in "$@"; do [[ " ${phases[*]} " == *" $phase "* ]] && return; done
    return 1
}

# Adds a phase's counts and prints its line; lanes that run beside each other print one after the other.
record() { # phase, passed, failed, seconds, log
    if [ "$2" -eq 0 ] && [ "$3" -eq 0 ]; then
        echo "$1: no test ran" >>"$5"
        set -- "$1" 0 1 "$4" "$5"
    fi
    {
        flock 9
        echo "$2 $3" >>"$RESULTS"
        printf '%-11s %4d passed, %d failed in %d s\n' "$1" "$2" "$3" "$4"
        [ "$3" -eq 0 ] || show "$1" "$5"
    } 9>"$LOGS/lock"
}

# What failed in a phase, and how its log ends.
show() { # phase, log
    echo "--- $1: what failed (all of it in $2)"
    evidence "$2" | tee -a "$FAILURES"
    # Who reads, who writes, and where.
    grep -aA 40 -m 1 'WARNING: ThreadSanitizer' "$2"
    echo "--- $1: its last lines"
    tail -n 25 "$2"
    echo '---'
}

evidence() { # log
    grep -aE '✘|error:| FAILED$|warning: data race|WARNING: ThreadSanitizer|SUMMARY|^(FAILED|ERROR)|Fatal error|no test ran|^➜|^lint:|^(VIOLATION|MISSING|chaos: FAILED)|violations [1-9]|^soak: FAILED' "$1" |
        grep -v '^✘ Suite' | head -n 60
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

# A build that fails is one failed test.
build() { # configuration, command…
    local log=$LOGS/build-$1.log start=$SECONDS name=$1
    shift
    if "${BEHIND[@]}" "$@" >"$log" 2>&1; then
        printf '%-11s built in %d s\n' "$name" $((SECONDS - start))
    else
        record "build-$name" 0 1 $((SECONDS - start)) "$log"
        return 1
    fi
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
    "${BEHIND[@]}" "$@" >"$log" 2>&1
    code=$?
    # shellcheck disable=SC2046
    record "$phase" $(count_lines "$log" $code) $((SECONDS - start)) "$log"
}

# Counts of pytest's summary, such as "1 failed, 12 passed, 1 skipped in 3.21s". What outlives pytest may write after it.
count_pytest() { # log, exit code
    grep -aE '[0-9]+ [a-z]+ in [0-9.]+s' "$1" | tail -n 1 | awk -v code="$2" '
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

# Runs a pytest suite on the built programs, whose folder is its first argument.
pytest_phase() { # phase, script, further argument…
    local phase=$1 script=$2 log=$LOGS/$1.log start=$SECONDS code
    shift 2
    "$script" "$bin" "$@" >"$log" 2>&1
    code=$?
    # shellcheck disable=SC2046
    record "$phase" $(count_pytest "$log" $code) $((SECONDS - start)) "$log"
    [ "$LONG" ] || tail -n 1 "$log" | grep -oE '[0-9]+ deselected' | sed "s/deselected/more in make test-long/;s/^/$phase: /"
}

# Runs the built tests of a configuration: their program itself, since only one `swift test` of a folder runs at a time.
swift_phase() { # phase, folder of the build, argument…
    local phase=$1 tests=$2/debug/touchsyncPackageTests.xctest log=$LOGS/$1.log start=$SECONDS code
    shift 2
    NO_COLOR=1 "${BEHIND[@]}" "$tests" --testing-library swift-testing "$@" >"$log" 2>&1
    code=$?
    # shellcheck disable=SC2046
    record "$phase" $(count_swift "$log" $code) $((SECONDS - start)) "$log"
}

phase_lint() {
    local log=$LOGS/lint.log start=$SECONDS
    if Tests/lint.sh >"$log" 2>&1; then record lint 1 0 $((SECONDS - start)) "$log"
    else record lint 0 1 $((SECONDS - start)) "$log"; fi
}

phase_model() { script_phase model Tests/Model/run.sh ${LONG:+--long}; }

phase_pure() { swift_phase pure .build --skip Live --skip "$THREADS|$UNSHARED" --skip '^SimulationTests\.'; }

# The thread sanitizer runs these too: beside it only what it leaves out.
phase_shells() {
    if [ -z "$LONG" ] && wants tsan; then
        swift_phase shells .build --filter "$UNSANITIZED|$UNSHARED" --skip Live --no-parallel
    else swift_phase shells .build --filter "$THREADS|$UNSHARED" --skip Live --no-parallel; fi
}

# Worlds are what their seed says only if dictionaries have one order in every process.
phase_simulation() {
    SWIFT_DETERMINISTIC_HASHING=1 swift_phase simulation .build --filter '^SimulationTests\.'
    grep -a ' worlds: ' "$LOGS/simulation.log"
    [ -z "$LONG" ] || more_worlds
}

# Other worlds each time: a fault may show in one of many thousands.
more_worlds() {
    local log=$LOGS/worlds.log start=$SECONDS good=0
    "${BEHIND[@]}" "$bin/simulate" --seed $((RANDOM << 15 | RANDOM)) --seeds 40000 >"$log" 2>&1 && good=1
    record worlds $good $((1 - good)) $((SECONDS - start)) "$log"
}

phase_live() {
    local watched='^$'
    [ "$LONG" ] || ! wants tsan || watched=$TSAN_FILTER
    # Each has a limit of time, and keeps a thread while it waits for its server.
    swift_phase live .build --filter Live --skip LiveFailoverTests --skip "$watched" --no-parallel
    # Pairs of servers, and deadlines of ten seconds: apart from the rest, which they would make late.
    swift_phase failover .build --filter LiveFailoverTests --no-parallel
}

# Backtraces of the Swift runtime make a sanitizer report take minutes.
phase_tsan() {
    [ -e "$LOGS/tsan.built" ] || return 0
    SWIFT_BACKTRACE=enable=no TOUCHSYNC_SANITIZED=1 TSAN_OPTIONS="halt_on_error=0 exitcode=66 suppressions=$PWD/Tests/tsan.txt ${TSAN_OPTIONS:-}" \
        swift_phase tsan .build-tsan --filter "$TSAN_FILTER" \
        --skip "$UNSANITIZED" --no-parallel
}

# A few seconds for each decoder, or a minute.
phase_fuzz() { TOUCHSYNC_BUILT=.build/debug script_phase fuzz Tests/Fuzz/run.sh $((LONG ? 60 : 4)); }

phase_conformance() {
    pytest_phase conformance Tests/Conformance/run.sh
    [ -n "$LONG" ] || return 0
    if [ "${SUITES:-}" ]; then script_phase suites Tests/conformance.sh "$SUITES"
    else echo 'suites      not run: SUITES=DIR names the suites of others'; fi
}

phase_pipeline() { pytest_phase pipeline Tests/PipelineTests/run.sh "${UNTIMED[@]}"; }

phase_client() { pytest_phase client Tests/Client/run.sh "${UNTIMED[@]}"; }

# What an operator installs. The package itself, on machines of its own, is for LONG.
phase_packaging() { pytest_phase packaging Tests/Packaging/run.sh "${SHORT[@]}"; }

phase_chaos() {
    local log=$LOGS/chaos.log start=$SECONDS storm=(--faults main --seconds 45 --clients 60 --pause 1.5) good=0
    [ -z "$LONG" ] || storm=(--seconds 600 --keys)
    Tests/Chaos/run.sh "$bin" "${storm[@]}" >"$log" 2>&1 && good=1
    record chaos $good $((1 - good)) $((SECONDS - start)) "$log"
    grep -a '^counts:' "$log"
    [ -z "$LONG" ] || { storm_on_hosts; soak; }
}

# Links are guarded by keys, as they are not in the short storm; for LONG the other way round.
phase_rows() {
    local keys=1
    [ -z "$LONG" ] || keys=''
    CHAOS_KEYS=$keys pytest_phase rows Tests/Chaos/run.sh rows "${SHORT[@]}"
}

# The same on several hosts (as root), whose network is cut as well.
storm_on_hosts() {
    local log=$LOGS/hosts.log start=$SECONDS good=0
    Tests/Chaos/run.sh "$bin" --hosts 3 --seconds 600 --faults all >"$log" 2>&1 && good=1
    record hosts $good $((1 - good)) $((SECONDS - start)) "$log"
}

# People come and go for some minutes, and nothing may grow.
soak() {
    local log=$LOGS/soak.log start=$SECONDS good=0
    Tests/Chaos/run.sh "$bin" soak --minutes 5 >"$log" 2>&1 && good=1
    record soak $good $((1 - good)) $((SECONDS - start)) "$log"
}

# Strangers on machines of their own. Built for debugging, daemons need several times as long for each message.
phase_hostile() {
    local how=(--seconds 3 --allowance-ms 1000)
    [ -z "$LONG" ] || how=(--all --seconds 60)
    script_phase hostile Tests/Hostile/run.sh "$bin" "${how[@]}"
}

# Frames, and the share of a core that clients take, when nothing else runs.
phase_timed() {
    pytest_phase frames Tests/PipelineTests/run.sh -m timed test_canvas.py
    pytest_phase costs Tests/Client/run.sh -m timed -s test_core.py test_cost.py
    grep -a ' of a core for ' "$LOGS/costs.log"
}

# Runs those of some phases that are wanted, one after the other.
run() { # phase…
    local phase
    for phase in "$@"; do wants "$phase" && "phase_$phase"; done
    return 0
}

for phase in "${phases[@]}"; do
    case $phase in
    lint | model | pure | shells | simulation | live | tsan | fuzz | conformance | pipeline | client | packaging | chaos | \
        rows | hostile | timed) ;;
    *) echo "unknown phase $phase" >&2; exit 2 ;;
    esac
done
trap 'kill $(jobs -p) 2>/dev/null' EXIT
if [ "${BUSY:-}" ]; then while :; do :; done & fi

# What needs no build, beside the first one.
run lint model &
lanes=($!)
if wants pure shells simulation live fuzz conformance pipeline client packaging chaos rows hostile; then
    build debug deploy/swift-build.sh --build-tests || phases=(lint model tsan)
fi
if [ "$LONG" ]; then build release make release || phases=(lint model tsan); fi
wait "${lanes[@]}"
# While the sanitizer compiles, nothing else: modules that are compiled as wholes take one processor each, in turn, and
# beside others this build would be the last to end.
if wants tsan && build tsan "${TSAN[@]}"; then touch "$LOGS/tsan.built"; fi
# What only computes.
{
    BEHIND=(Tests/behind.sh)
    run pure simulation fuzz
} &
computing=$!
# What waits. Alone, each of these phases leaves the processors idle much of the time, so the two longest run beside the
# others. Long drills, and phases beside a busy core, get more of the machine.
if [ "$LONG${BUSY:-}" ]; then
    run shells live conformance
    run client packaging tsan &
    waiting=$!
    run pipeline chaos rows
else
    run shells live conformance client packaging tsan chaos &
    waiting=$!
    run pipeline rows
fi
wait "$waiting" "$computing"
# Delays are measured when nothing else runs.
run hostile timed

cat "$FAILURES"
awk '{ passed += $1; failed += $2 } END { print passed + 0 " passed, " failed + 0 " failed"; exit failed > 0 || !passed }' \
    "$RESULTS"
