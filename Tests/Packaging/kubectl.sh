#!/bin/sh
# Makes .build-kubectl beside this script hold kubectl from the Debian package, which builds overlays as kustomize does, and
# prints its path. The package is unpacked and not installed: another kubectl may be there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder="$here/.build-kubectl"
if [ ! -x "$folder/usr/bin/kubectl" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    (
        cd "$folder"
        apt-get download kubernetes-client || { apt-get update && apt-get download kubernetes-client; }
        dpkg -x kubernetes-client_*.deb .
        rm -f kubernetes-client_*.deb
    ) >&2
fi
echo "$folder/usr/bin/kubectl"
