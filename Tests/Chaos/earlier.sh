#!/bin/sh
# Builds the daemons of the commit in earlier-commit and prints the folder that holds them, in .build/earlier.
#
#     Tests/Chaos/earlier.sh debug|release
#
# Once for each commit and configuration; a debug build takes about ten minutes of one core. EARLIER_PROGRAMS names a
# folder with built daemons instead.
set -eu
if [ -n "${EARLIER_PROGRAMS:-}" ]; then
    echo "$EARLIER_PROGRAMS"
    exit
fi
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
configuration=$1
commit=$(grep -v '^#' "$here/earlier-commit")
if ! git -C "$root" cat-file -e "$commit^{commit}"; then
    echo "commit $commit of Tests/Chaos/earlier-commit is not in this clone: git fetch --unshallow, or correct the file" >&2
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
