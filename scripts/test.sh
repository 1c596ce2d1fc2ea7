#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs all tests. With arguments of ctest, builds and runs only the tests that they
# select: scripts/test.sh -R comm-test
set -euo pipefail
. "$(dirname "$0")/common.sh"

install_missing "${packages[@]}" "${python_packages[@]}"
if [ $# -eq 0 ]; then build release; fi
run_tests release "$@"
