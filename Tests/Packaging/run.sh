#!/bin/sh
# Tests what an operator installs: units, package, rules for Prometheus. As root, because it installs in a root of its own.
#
#     Tests/Packaging/run.sh FOLDER [arguments of pytest]
#
# FOLDER holds touchsync and the four daemons, for example .build/release. What the tests need is installed by apt.

# shellcheck source=Tests/suite.sh
. "$(dirname "$0")/../suite.sh"
find_programs touchsync "$@"
shift
install_packages systemd systemd-container debootstrap lintian jq skopeo umoci
PROMTOOL=$(unpack_program prometheus promtool)
export PROMTOOL
# It builds overlays as kustomize does.
KUBECTL=$(unpack_program kubernetes-client kubectl)
export KUBECTL
run_pytest PipelineTests "$@"
