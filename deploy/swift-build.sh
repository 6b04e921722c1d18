#!/usr/bin/env bash
# `swift build`, which parses the headers of the C++ library once instead of in each of 700 files.
#
#     deploy/swift-build.sh [arguments of swift build]
#
# Two packages bring BoringSSL, a quarter of what a fresh machine compiles, and most of that are these headers. What is
# built is the same as by `swift build` itself, and neither compiles again what the other has: the commands are the same,
# and a variable that clang reads (clang/lib/Driver, CCC_OVERRIDE_OPTIONS) adds the parsed headers to those of C++.
set -euo pipefail
cd "$(dirname "$0")/.."
configuration=debug flags=(-O0 -DDEBUG=1)
if [[ " $* " == *' -c release '* ]]; then configuration=release flags=(-O2); fi
folder=.build/headers
mkdir -p "$folder"

target=$(swiftc -print-target-info | sed -n '/"target"/,/}/s/.*"unversionedTriple": "\(.*\)".*/\1/p')
clang=$(dirname "$(readlink -f "$(command -v swiftc)")")/clang
# Made each time, as clang refuses it once a header has changed. The flags are those that the package manager gives.
if "$clang" -target "$target" "${flags[@]}" -DSWIFT_PACKAGE=1 -fblocks -fPIC -g -fno-omit-frame-pointer -std=c++17 \
    -x c++-header "$PWD/deploy/cxx-headers.hpp" -o "$folder/$configuration.$$"; then
    mv "$folder/$configuration.$$" "$folder/$configuration.pch"
    echo "-std=c++17 -include-pch <CFGDIR>/$configuration.pch" >"$folder/$configuration.cfg"
    export CCC_OVERRIDE_OPTIONS="# +--config-user-dir=$folder s/-std=c..17/--config=$configuration.cfg/"
fi
exec swift build "$@"
