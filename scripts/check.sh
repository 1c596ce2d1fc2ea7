#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the tests don't show: formatting, the other compiler, clang-tidy, and the tests under sanitizers.
set -euo pipefail
. "$(dirname "$0")/common.sh"

install_missing "${packages[@]}" clang clang-format clang-tidy
cd "$root"
mapfile -t sources < <(git ls-files '*.cpp' '*.h' | grep -v generated)

say "Checking the format"
step format "run clang-format -i on the files named" clang-format --dry-run --Werror "${sources[@]}"
build clang
for preset in asan-ubsan tsan; do
  build "$preset"
  say "Testing ($preset)"
  ctest --preset "$preset" --no-tests=error || die "tests fail under $preset"
done
say "clang-tidy"
step tidy "mend what it names" bash -c 'grep "\.cpp$" | xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p build/clang' \
  < <(printf '%s\n' "${sources[@]}" | grep -v '^test/')
