#!/usr/bin/env bash
# Fuzzes the decoders of bytes that others send, with libFuzzer under the address sanitizer: run.sh SECONDS [TARGET…]
#
# SECONDS for each target; without a target all of them, which are the folders of Seeds. Finds are kept in the corpus
# under .build/fuzz, never in Seeds; an input that breaks a decoder is left there as crash-* or timeout-*. Prints a line
# for each target and "N passed, N failed" last. TOUCHSYNC_BUILT names the folder of a debug build that is up to date.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
seconds=${1:-10}
shift
work=$PWD/.build/fuzz
mkdir -p "$work"
# Backtraces of the Swift runtime make a sanitizer report take minutes.
export SWIFT_BACKTRACE=enable=no

# Packages are linked as the debug build has them; what is fuzzed is compiled again, with the sanitizer.
built=${TOUCHSYNC_BUILT:-}
if [ -z "$built" ]; then
    swift build --target GatewayCore >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
    built=$(swift build --show-bin-path)
fi
# What is optimised tries several times as many inputs, and takes minutes more to build: a short run would not gain by it.
level=-O
[ "$seconds" -ge 30 ] || level=-Onone
flags=($level -swift-version 6 -sanitize=fuzzer,address -parse-as-library -enable-testing -package-name touchsync
    -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature ExistentialAny -suppress-warnings
    -I "$work" -I "$built/Modules" -L "$work")

module() { # name, file…
    local name=$1
    shift
    swiftc "${flags[@]}" -wmo -emit-module -emit-library -static -module-name "$name" "$@" -o "$work/lib$name.a"
}

compile() {
    local postgres=Shared/Postgres boot=Shared/Boot objects
    module Timing Shared/Timing/*.swift && module JSONBytes Shared/JSONBytes/*.swift &&
        module SocketIO Shared/SocketIO/*.swift &&
        module Canvas Shared/Canvas/*.swift Shared/Canvas/*/*.swift && module Wire Shared/Wire/*.swift Shared/Wire/*/*.swift &&
        module Auth Shared/Auth/*.swift && module Trust Shared/Trust/*.swift && module Stages Shared/Stages/Stage.swift &&
        module OperatorMonitor Services/Operator/Monitor/Model/*.swift Services/Operator/Monitor/Model/*/*.swift && module PipelineTestKit Tests/PipelineTestKit/Edits.swift &&
        module GatewayCore Services/Gateway/Core/*.swift Services/Gateway/Core/*/*.swift &&
        # Of these modules only what decodes.
        module FanoutCore Services/Fanout/Core/SessionIssuer.swift &&
        module FanoutDaemon Services/Fanout/Daemon/SessionSeal.swift &&
        module Mesh Shared/Mesh/{Hello,LinkIdentity,VersionRefusal}.swift &&
        module Postgres $postgres/{BinaryArray,FieldDecoding,PostgresType,Parameters,PostgresError,SQLState}.swift &&
        module Boot $boot/Settings/{SettingsFile,Setting,Setting+Kinds,SettingProblem,ConnectionString,Loopback}.swift \
            $boot/Instances/{DNSName,PeerAddress,InstancesFile}.swift || return
    mapfile -t objects < <(find "$built"/{Crypto,CryptoBoringWrapper,CCryptoBoringSSL,CCryptoBoringSSLShims}.build/ \
        "$built"/{JWTKit,X509,_CertificateInternals,SwiftASN1,CryptoExtras,Logging}.build/ \
        "$built"/{CXKCP,CXKCPShims,DequeModule,HeapModule,InternalCollectionsUtilities,ContainersPreview}.build/ -name '*.o')
    swiftc "${flags[@]}" -wmo -module-name Fuzz "$here"/*.swift Tests/WireTests/Samples.swift \
        -lPipelineTestKit -lOperatorMonitor -lStages -lGatewayCore -lFanoutDaemon -lFanoutCore -lAuth -lTrust -lWire -lTiming -lCanvas -lSocketIO -lJSONBytes -lMesh -lPostgres -lBoot \
        "${objects[@]}" -lm -lstdc++ -lFoundationEssentials -o "$work/fuzz"
}

start=$SECONDS
if ! compile >"$work/compile.log" 2>&1; then
    cat "$work/compile.log"
    echo '0 passed, 1 failed'
    exit 1
fi
echo "built in $((SECONDS - start)) s"

[ $# -gt 0 ] || set -- $(ls "$here/Seeds")
passed=0 failed=0
for target in "$@"; do
    corpus=$work/corpus/$target
    log=$work/$target.log
    mkdir -p "$corpus"
    [ "$target" = wire ] && FUZZ_WIRE_SEEDS=$corpus "$work/fuzz" >"$log" 2>&1
    if FUZZ_TARGET=$target "$work/fuzz" -max_total_time="$seconds" -max_len=2000 -rss_limit_mb=1024 -timeout=10 \
        -print_final_stats=1 -artifact_prefix="$work/$target-" "$corpus" "$here/Seeds/$target" >"$log" 2>&1; then
        passed=$((passed + 1))
        printf '%-10s %9d inputs, coverage %s\n' "$target" \
            "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" "$(grep -ao 'cov: [0-9]*' "$log" | tail -n 1)"
    else
        failed=$((failed + 1))
        printf '%-10s FAILED\n' "$target"
        grep -aE 'Fatal error|ERROR:|SUMMARY|Test unit written' "$log"
        tail -n 15 "$log"
    fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
