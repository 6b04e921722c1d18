#!/bin/sh
# Makes .build/packaging hold the files of a bare Debian 12 with systemd and PostgreSQL, as a lower layer for machines of the
# tests, and prints their folder. The library that only our package needs is there as a download: apt installs it. Does
# nothing more when it is there.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)/.build/packaging/bookworm
if [ ! -e "$root.done" ]; then
    rm -rf "$root"
    mkdir -p "$root"
    (
        debootstrap --variant=minbase bookworm "$root"
        cp /etc/apt/sources.list.d/*.sources "$root/etc/apt/sources.list.d/" 2>/dev/null || true
        # Servers start when the machine does.
        printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
        chmod 755 "$root/usr/sbin/policy-rc.d"
        in_root() { systemd-nspawn --quiet --register=no --keep-unit --as-pid2 --directory="$root" --setenv=LC_ALL=C \
            --setenv=DEBIAN_FRONTEND=noninteractive --pipe "$@" </dev/null; }
        in_root apt-get -qq update
        in_root apt-get -qq install -y --no-install-recommends systemd dbus postgresql
        in_root apt-get -qq install -y --no-install-recommends --download-only libzmq5
        rm "$root/usr/sbin/policy-rc.d"
    ) >&2
    touch "$root.done"
fi
echo "$root"
