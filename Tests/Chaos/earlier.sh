#!/bin/sh
# Builds the daemons of the last release and prints the folder that holds them, in .build/earlier: of the first commit that
# has the version of Tests/Golden/release.txt.
#
#     Tests/Chaos/earlier.sh debug|release
#
# Once for each release and configuration; a debug build takes about ten minutes of one core. EARLIER_PROGRAMS names a
# folder with built daemons instead.
set -eu
if [ -n "${EARLIER_PROGRAMS:-}" ]; then
    echo "$EARLIER_PROGRAMS"
    exit
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
configuration=$1
version=$(cat "$root/Tests/Golden/release.txt")
commit=$(git -C "$root" log --format=%H -S"version = \"$version\"" -- Shared/Boot/Process/BuildInfo.swift | tail -n 1)
if [ -z "$commit" ]; then
    echo "this clone has no commit of version $version: git fetch --unshallow" >&2
    exit 1
fi
folder=$root/.build/earlier/$commit
programs=$folder/built/$configuration
if [ ! -e "$folder/$configuration.done" ]; then
    rm -rf "$folder/source"
    mkdir -p "$folder/source"
    git -C "$root" archive "$commit" | tar -x -C "$folder/source"
    # The same dependencies; they come from SwiftPM's cache.
    cp "$root/Package.resolved" "$folder/source/"
    for stage in gateway coalescer committer fanout; do
        swift build --package-path "$folder/source" --scratch-path "$folder/built" -c "$configuration" \
            --product "touchsync-$stage" >&2
    done
    touch "$folder/$configuration.done"
fi
echo "$programs"
