#!/bin/sh
# Makes .build/packaging hold the files of a Debian 12 with systemd, as a lower layer for machines of the tests, and prints
# their folder: base.sh [bare]. Unless it is to be bare, PostgreSQL is installed. Packages that operators install are there
# as downloads, from which apt installs them: machines reach each other, and nobody else. Does nothing more when it is there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$here/../../.build/packaging
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
# Another one may be at it.
exec 9<"$here"
flock 9

# What was made by another version of this script is made again.
is_done() { cmp -s "$here/base.sh" "$1.done"; }
finish() { cp "$here/base.sh" "$1.done"; }
in_root() { # folder, command…
    directory=$1
    shift
    systemd-nspawn --quiet --register=no --keep-unit --as-pid2 --directory="$directory" --setenv=LC_ALL=C \
        --setenv=DEBIAN_FRONTEND=noninteractive --pipe "$@" </dev/null
}
# Servers start when the machine does.
forbid_starts() { printf '#!/bin/sh\nexit 101\n' | install -m 755 /dev/stdin "$1/usr/sbin/policy-rc.d"; }

make_bare() {
    bare=$folder/bare
    is_done "$bare" && return
    rm -rf "$bare"
    debootstrap --variant=minbase bookworm "$bare"
    cp /etc/apt/sources.list.d/*.sources "$bare/etc/apt/sources.list.d/" 2>/dev/null || true
    # As the installer of Debian writes it.
    echo '127.0.0.1 localhost' >"$bare/etc/hosts"
    forbid_starts "$bare"
    in_root "$bare" apt-get -qq update
    in_root "$bare" apt-get -qq install -y --no-install-recommends systemd dbus
    in_root "$bare" apt-get -qq install -y --no-install-recommends --download-only \
        libzmq5 postgresql patroni etcd-server etcd-client prometheus
    rm "$bare/usr/sbin/policy-rc.d"
    finish "$bare"
}

make_with_postgres() {
    root=$folder/bookworm
    is_done "$root" && return
    rm -rf "$root"
    cp -a "$folder/bare" "$root"
    forbid_starts "$root"
    in_root "$root" apt-get -qq install -y --no-install-recommends postgresql
    rm "$root/usr/sbin/policy-rc.d"
    finish "$root"
}

make_bare >&2
if [ "${1:-}" = bare ]; then echo "$folder/bare"; exit; fi
make_with_postgres >&2
echo "$folder/bookworm"
