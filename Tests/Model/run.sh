#!/usr/bin/env bash
# Lets spin search every order of steps of the models: run.sh [--long]
# Each must hold in all of them, and each mutation must fail. Last line: "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")"
models=$PWD
../../deploy/install.sh spin || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
passed=0 failed=0

# Searches one size of the current model. "safety" looks for broken assertions and for states that nobody leaves, "liveness" for
# ways on which something is left waiting for ever although every process gets its turn.
search() { # expected: holds or fails; safety or liveness; -D…
    local expected=$1 kind=$2 build run start=$SECONDS report optimize=-O2
    shift 2
    # A mutation shows in few states: the compiler would take longer than the search.
    [ "$expected" = holds ] || optimize=-O0
    case $kind in
    safety) build=(-DSAFETY -DNOCLAIM) run=() ;;
    liveness) build=(-DNFAIR=9) run=(-a -f) ;;
    esac
    report=$work/report
    rm -f pan ./*.trail
    if ! { spin "$@" -a "$models/$model.pml" && clang $optimize -w -DCOLLAPSE "${build[@]}" -o pan pan.c; } >"$report" 2>&1; then
        outcome=broken
    else
        timeout 600 ./pan "${run[@]}" -m1000000 >"$report" 2>&1
        if grep -q 'errors: 0$' "$report" && ! grep -q 'Search not completed\|max search depth' "$report"; then outcome=holds
        elif grep -qE '^pan:[0-9]+: (assertion violated|acceptance cycle|invalid end state)' "$report"; then outcome=fails
        else outcome=broken; fi
    fi
    local states
    states=$(awk '/states, stored/ { print $1; exit }' "$report")
    if [ "$outcome" = "$expected" ]; then
        passed=$((passed + 1))
        printf '%s: %-8s %-48s %s after %s states, %d s\n' "$model" "$kind" "$*" "$outcome" "$states" $((SECONDS - start))
    else
        failed=$((failed + 1))
        printf 'FAILED %s: %s %s: %s, not %s\n' "$model" "$kind" "$*" "$outcome" "$expected"
        tail -n 20 "$report"
    fi
}

model=acknowledge
two_apps=(-DSESSIONS=2 -DCOMMITS=1) two_commits=(-DSESSIONS=1 -DCOMMITS=2)
search holds safety "${two_apps[@]}" -DFAULTS=2
search holds safety "${two_commits[@]}" -DFAULTS=3
search holds liveness "${two_commits[@]}" -DFAULTS=1
for mutation in NO_DEDUPLICATION BLIND_WRITE ACK_BEFORE_COMMIT TRUST_HINTS; do
    search fails safety "${two_commits[@]}" -DFAULTS=2 "-D$mutation"
done
search fails liveness "${two_commits[@]}" -DFAULTS=1 -DNO_HEADS
search holds safety "${two_commits[@]}" -DFAULTS=3 -DHOLES
search holds liveness "${two_commits[@]}" -DFAULTS=1 -DHOLES
search fails liveness "${two_commits[@]}" -DFAULTS=1 -DHOLES -DTWO_IN_FLIGHT
if [ "${1:-}" = --long ]; then
    search holds safety -DSESSIONS=1 -DCOMMITS=3 -DFAULTS=4
    search holds safety -DSESSIONS=1 -DCOMMITS=3 -DFAULTS=4 -DHOLES
    search holds safety -DSESSIONS=2 -DCOMMITS=2 -DFAULTS=1
    search holds liveness "${two_apps[@]}" -DFAULTS=2
fi

model=group
search holds safety -DFAULTS=2 -DPREVIEWS=1
for mutation in PARTS BLIND_WRITE NO_DEDUPLICATION FENCE_FIRST; do
    search fails safety -DFAULTS=1 -DPREVIEWS=1 "-D$mutation"
done
if [ "${1:-}" = --long ]; then
    search holds safety -DFAULTS=3 -DPREVIEWS=2
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
