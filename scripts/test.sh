#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs all tests.
set -euo pipefail
. "$(dirname "$0")/common.sh"

install_missing "${packages[@]}"
build release
cd "$root"
say "Testing"
ctest --preset release --no-tests=error "$@" || die "tests failed"
