#!/usr/bin/env bash
# The C compiler of the thread sanitizer's build: what the debug build has compiled of BoringSSL is taken from there.
#
# Two packages bring BoringSSL, more than half of a build's work, and no thread of ours runs through it but as a caller.
# Its functions are not sanitized then. Anything else, and what is not there yet or is another version, is compiled.
#
#     CC=$PWD/Tests/reusing-clang.sh swift build --scratch-path .build-tsan …
set -uo pipefail
ours=/.build-tsan/ debug=/.build/
source='' object='' dependencies=''
arguments=("$@")
while [ $# -gt 0 ]; do
    case $1 in
    -c) source=${2:-} ;;
    -o) object=${2:-} ;;
    -MF) dependencies=${2:-} ;;
    esac
    shift
done
if [[ $source == *"$ours"checkouts/*BoringSSL/* && ${object/$ours/$debug} -nt ${source/$ours/$debug} ]] &&
    cmp -s "$source" "${source/$ours/$debug}" && cp "${object/$ours/$debug}" "$object"; then
    sed "s|$debug|$ours|g" "${dependencies/$ours/$debug}" >"$dependencies"
    exit
fi
exec "$(dirname "$(readlink -f "$(command -v swiftc)")")/clang" "${arguments[@]}"
