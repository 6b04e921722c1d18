#!/bin/sh
# Fuzzes the SocketIO decoders with libFuzzer under the address sanitizer: run.sh [seconds] [build folder].
# New inputs go to the build folder; what crashes is left there as crash-*.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
seconds=${1:-20}
build=${2:-$root/.build/fuzz-socketio}
mkdir -p "$build/corpus"
cd "$build"
export SWIFT_BACKTRACE=enable=no
flags="-O -swift-version 6 -sanitize=fuzzer,address -parse-as-library -enable-upcoming-feature InternalImportsByDefault"
flags="$flags -enable-upcoming-feature ExistentialAny -I . -L ."
for module in JSONBytes SocketIO; do
    links=""
    [ "$module" = SocketIO ] && links="-lJSONBytes"
    swiftc $flags -emit-module -emit-library -static -module-name $module "$root/Shared/$module/"*.swift \
        -o "lib$module.a" $links
done
swiftc $flags -module-name SocketIOFuzz "$here/Fuzz.swift" -lSocketIO -lJSONBytes -lm -o fuzz-socketio
./fuzz-socketio -max_total_time="$seconds" -max_len=600 -rss_limit_mb=1024 -timeout=10 -print_final_stats=1 \
    corpus "$here/Seeds"
