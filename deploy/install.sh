#!/usr/bin/env bash
# Installs what building, running and testing need, by apt, when it is missing. Safe to run again.
#
#     deploy/install.sh [further packages]
set -euo pipefail

say() { printf 'install: %s\n' "$*" >&2; }

check_swift() {
    if ! command -v swift >/dev/null; then
        say '************************************************************'
        say 'Swift is missing. Install Swift 6.3 (https://www.swift.org/install/linux)'
        say 'so that "swift --version" works, then run this again.'
        say '************************************************************'
        return 1
    fi
    local version major minor
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1)
    major=${version%%.*} minor=${version#*.}
    if [ -n "$version" ] && { [ "$major" -lt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -lt 3 ]; }; }; then
        say "Swift $version is too old; 6.3 or newer is needed (https://www.swift.org/install/linux)"
        return 1
    fi
}

has_package() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

has_postgres() {
    local program
    for program in /usr/lib/postgresql/*/bin/postgres; do
        [ -x "$program" ] || continue
        program=${program#/usr/lib/postgresql/}
        [ "${program%%/*}" -ge 15 ] && return 0
    done
    return 1
}

check_swift

if ! command -v apt-get >/dev/null; then
    missing=()
    [ -e /usr/include/zmq.h ] || missing+=('libzmq 4.3 with headers')
    [ -e /usr/include/postgresql/libpq-fe.h ] || missing+=('libpq 14+ with headers in postgresql/')
    [ -e /usr/include/zlib.h ] || missing+=('zlib with headers')
    command -v postgres >/dev/null || missing+=('PostgreSQL 15')
    [ $# -eq 0 ] || say "taken to be there already: $*"
    [ ${#missing[@]} -eq 0 ] && exit 0
    say 'this is no Debian or Ubuntu; install these by hand:'
    printf 'install:   %s\n' "${missing[@]}" >&2
    exit 1
fi

packages=()
for package in libzmq3-dev libpq-dev zlib1g-dev python3-venv openssl "$@"; do has_package "$package" || packages+=("$package"); done
has_postgres || packages+=(postgresql-15)
[ ${#packages[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ]; then
    root=()
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    root=(sudo)
else
    say "missing packages: ${packages[*]}"
    say 'they must be installed as root, and sudo is not to be had here. Ask for:'
    say "  apt-get install ${packages[*]}"
    exit 1
fi

# Another one may be at it.
exec 9<"$(dirname "$0")"
flock 9
say "installing ${packages[*]}"
export DEBIAN_FRONTEND=noninteractive
apt() { "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" >&2; }
apt update || say 'the package lists could not be renewed; trying with the old ones'
if [[ " ${packages[*]} " == *' postgresql-15 '* ]]; then
    # The package would start a server of its own on port 5432, which nobody asked for.
    apt install -y --no-install-recommends postgresql-common
    "${root[@]}" sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' \
        /etc/postgresql-common/createcluster.conf
fi
# Packages of proxies would start one with settings of their own (nginx on port 80), which nobody asked for: now, or when
# the machine starts again.
policy=/usr/sbin/policy-rc.d
if [ -e "$policy" ]; then policy=; else printf '#!/bin/sh\nexit 101\n' | "${root[@]}" install -m 755 /dev/stdin "$policy"; fi
trap '[ -z "$policy" ] || "${root[@]}" rm -f "$policy"' EXIT
apt install -y --no-install-recommends "${packages[@]}"
for server in haproxy nginx etcd patroni pgbouncer; do
    [[ " ${packages[*]} " =~ " $server"(-server)?" " ]] || continue
    "${root[@]}" systemctl disable "$server" >/dev/null 2>&1 || true
done
say 'done'
