#!/usr/bin/env bash
# Makes an OCI archive of the package without an engine or a registry: image.sh PACKAGE, as root.
#
# It is what Containerfile describes, on a Debian of its own. The archive goes beside the package, and its path to
# standard output; `podman load`, `skopeo copy oci-archive:…` and others read it (github.com/opencontainers/image-spec).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -ne 1 ] || [ ! -f "$1" ]; then
    echo "usage: $0 PACKAGE; make deb builds it" >&2
    exit 64
fi
package=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
"$here/install.sh" debootstrap systemd-container jq >&2
version=$(dpkg-deb --field "$package" Version)
created=$(date --utc --date="@$(dpkg-parsechangelog -l "$here/debian/changelog" -S Timestamp)" +%FT%TZ)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root image=$work/image
mkdir -p "$image/blobs/sha256"
debootstrap --variant=minbase bookworm "$root" >&2
in_root() {
    systemd-nspawn --quiet --register=no --keep-unit --as-pid2 --pipe --directory="$root" --setenv=LC_ALL=C \
        --setenv=DEBIAN_FRONTEND=noninteractive "$@" </dev/null >&2
}
cp "$package" "$root/touchsync.deb"
in_root apt-get -qq install -y --no-install-recommends systemd-standalone-sysusers ./touchsync.deb
rm -rf "$root"/touchsync.deb "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/* "$root"/var/log/* "$root"/tmp/*
rm -f "$root/etc/resolv.conf"

# Stores standard input as a blob under its digest, and prints that.
store() {
    local blob digest
    blob=$(mktemp "$work/blob-XXXXXX")
    cat >"$blob"
    digest=$(sha256sum "$blob" | cut -d ' ' -f 1)
    mv "$blob" "$image/blobs/sha256/$digest"
    echo "$digest"
}
size() { stat --format=%s "$image/blobs/sha256/$1"; }

tar --create --directory="$root" --sort=name --mtime="$created" --numeric-owner --one-file-system \
    --exclude='./dev/*' --exclude='./proc/*' --exclude='./sys/*' --exclude='./run/*' --file="$work/layer.tar" .
content=$(sha256sum "$work/layer.tar" | cut -d ' ' -f 1)
layer=$(gzip --no-name --stdout "$work/layer.tar" | store)
config=$(jq --null-input --arg created "$created" --arg content "sha256:$content" --arg version "$version" '{
    architecture: "amd64", os: "linux", created: $created,
    config: {
        User: "touchsync", Cmd: ["touchsync", "--help"], StopSignal: "SIGTERM", ExposedPorts: {"8080/tcp": {}},
        Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
        Labels: {"org.opencontainers.image.title": "touchsync", "org.opencontainers.image.version": $version}
    },
    rootfs: {type: "layers", diff_ids: [$content]},
    history: [{created: $created, created_by: "deploy/image.sh"}]
}' | store)
manifest=$(jq --null-input --arg config "$config" --argjson configSize "$(size "$config")" \
    --arg layer "$layer" --argjson layerSize "$(size "$layer")" '{
    schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json",
    config: {mediaType: "application/vnd.oci.image.config.v1+json", digest: "sha256:\($config)", size: $configSize},
    layers: [{mediaType: "application/vnd.oci.image.layer.v1.tar+gzip", digest: "sha256:\($layer)", size: $layerSize}]
}' | store)
jq --null-input --arg manifest "$manifest" --argjson size "$(size "$manifest")" --arg version "$version" '{
    schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: [{
        mediaType: "application/vnd.oci.image.manifest.v1+json", digest: "sha256:\($manifest)", size: $size,
        platform: {architecture: "amd64", os: "linux"}, annotations: {"org.opencontainers.image.ref.name": $version}
    }]
}' >"$image/index.json"
echo '{"imageLayoutVersion": "1.0.0"}' >"$image/oci-layout"
archive=${package%.deb}.oci.tar
tar --create --directory="$image" --sort=name --mtime="$created" --owner=0 --group=0 --file="$archive" \
    oci-layout index.json blobs
echo "$archive"
