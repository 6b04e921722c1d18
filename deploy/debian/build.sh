#!/usr/bin/env bash
# Builds the Debian package of built programs: build.sh FOLDER [VERSION]
#
# FOLDER holds touchsync and the four daemons, for example .build/release. The package goes to .build/deb, and its path
# to standard output. Its version is that of the programs; tests pass another one to try an upgrade.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
if [ $# -lt 1 ] || [ ! -x "$1/touchsync" ]; then
    echo "usage: $0 FOLDER [VERSION]; FOLDER must hold touchsync and the daemons" >&2
    exit 64
fi
built=$(cd "$1" && pwd)
daemons=(touchsync-gateway touchsync-coalescer touchsync-committer touchsync-fanout)
version=$("$built/touchsync" --version | awk '{ print $2 }')
changelog=$(dpkg-parsechangelog -l "$here/changelog" -S Version)
if [ "$changelog" != "$version" ]; then
    echo "$0: the changelog is of $changelog, the programs are $version" >&2
    exit 65
fi
packed=${2:-$version}
"$here/../install.sh" debhelper patchelf >&2

# The same files have the same times whenever they are packed.
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -l "$here/changelog" -S Timestamp)
export SOURCE_DATE_EPOCH
output=$root/.build/deb
tree=$output/touchsync-$packed
rm -rf "$tree"
mkdir -p "$tree"/{programs,manuals,completions,systemd,pages}
cp -r "$here" "$tree/debian"
rm "$tree"/debian/{build.sh,manual.py}
sed -i "1s/($version)/($packed)/" "$tree/debian/changelog"

# Swift's own libraries, of which Debian has no package; they and the programs look for them in their own folder.
swift=$(dirname "$(ldd "$built/touchsync" | awk '$1 == "libswiftCore.so" { print $3 }')")
for program in touchsync "${daemons[@]}"; do
    cp "$built/$program" "$tree/programs/"
    ldd "$built/$program" | awk -v folder="$swift/" 'index($3, folder) == 1 { print $3 }'
done | sort -u | xargs cp -t "$tree/programs"
for file in "$tree"/programs/*; do patchelf --set-rpath '$ORIGIN' "$file"; done

"$here/manual.py" command "$built/touchsync" >"$tree/manuals/touchsync.1"
for daemon in "${daemons[@]}"; do "$here/manual.py" daemon "$built/$daemon" >"$tree/manuals/$daemon.8"; done
# Bash reads it, nobody executes it.
"$built/touchsync" --generate-completion-script bash | sed '1{/^#!/d}' >"$tree/completions/touchsync"
"$built/touchsync" --generate-completion-script zsh >"$tree/completions/_touchsync"
"$built/touchsync" --generate-completion-script fish >"$tree/completions/touchsync.fish"
cp "$root"/deploy/systemd/touchsync* "$tree/systemd/"
cp "$root/deploy/systemd/daemons.conf" "$tree/systemd/10-daemons.conf"
cp -r "$root/deploy/prometheus" "$root/deploy/grafana" "$root/deploy/patroni" "$tree/"
(cd "$root" && cp --parents README.md Services/*.md Services/*/*.md Shared/Canvas/README.md deploy/*.md deploy/kubernetes/README.md "$tree/pages/")

(cd "$tree" && dpkg-buildpackage --build=binary --no-sign --no-check-builddeps) >"$output/build.log" 2>&1 || {
    cat "$output/build.log" >&2
    exit 1
}
echo "$output/touchsync_${packed}_amd64.deb"
