#!/bin/sh
# Makes .build-promtool beside this script hold Prometheus's tool from the Debian package, and prints its path. The package
# is unpacked and not installed: that would start a server.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder="$here/.build-promtool"
if [ ! -x "$folder/usr/bin/promtool" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    (
        cd "$folder"
        apt-get download prometheus || { apt-get update && apt-get download prometheus; }
        dpkg -x prometheus_*.deb .
        # The server itself is not needed.
        rm -f prometheus_*.deb usr/bin/prometheus
    ) >&2
fi
echo "$folder/usr/bin/promtool"
