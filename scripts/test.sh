#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs all tests. With arguments of ctest, builds and runs only the tests that they
# select: scripts/test.sh -R '^unit'
set -euo pipefail
. "$(dirname "$0")/common.sh"

install_missing "${packages[@]}"
if [ $# -eq 0 ]; then
  build release
else
  configure release
  mapfile -t targets < <(python3 "$root/scripts/test_targets.py" build/release "$@")
  if [ ${#targets[@]} -gt 0 ]; then build release "${targets[@]}"; fi
fi
say "Testing"
ctest --preset release --no-tests=error "$@" || die "tests failed"
