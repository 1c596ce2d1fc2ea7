#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks what scripts/test.sh does not check: the format, the site of the documentation, Debian packages, the page of
# --emit=html in a browser, the code with clang and clang-tidy, and the tests under sanitizers.
set -euo pipefail
. "$(dirname "$0")/common.sh"

deep=no
if [ "${1-}" = --deep ]; then deep=yes; shift; fi
if [ $# -gt 0 ]; then die "usage: check.sh [--deep]"; fi
install_missing "${packages[@]}" clang clang-format clang-tidy libclang-rt-14-dev dpkg-dev file \
  chromium chromium-driver mkdocs zsh
cd "$root"
mapfile -t sources < <(git ls-files '*.cpp' '*.h' | grep -v generated)
mapfile -t kernels < <(git ls-files '*.cu' '*.cuh')

say "Checking the format"
step format "run clang-format -i on the files named" clang-format --dry-run --Werror "${sources[@]}" "${kernels[@]}"
say "Building the site of the documentation" # into build/site
step site "mend what it names in docs/ or mkdocs.yml" mkdocs build --strict
step site-links "mend the links that it names" python3 test/site_links.py build/site
run_tests release -R '^(package\.deb|browser)'

# The readers of untrusted files, and the compiler. With --deep all tests.
if [ $deep = no ]; then
  run_tests asan-ubsan -R '^(lit|fuzz\..*|unit\.(bundle|hostile|api|element|transfers|front|text|import|claims|topology|synth)-tests?)$'
else
  run_tests asan-ubsan -E '^browser'
fi
run_tests tsan -R '^unit\.(element|transfers|bundle|api|run|trace|fake-nccl|call-lines|nccl-front)-test$' # only the runtime has threads
build tsan comm-test nccl-api-test gc3-run
step tsan-comm "a race between threads of communicators" build/tsan/test/comm/comm-test \
  --gtest_filter='-Comm.*:CommNetwork.CallsLeave*:CommNetwork.RanksMay*:CommNetwork.ARankOn*:CommSplit.RanksMay*' # emulated kernels take minutes
TSAN_OPTIONS=report_thread_leaks=0 step tsan-api "a race between threads of the C API" \
  build/tsan/test/comm/nccl-api-test # a rank that timed out in NCCL's split keeps its thread
for example in examples/*.gc3; do
  bundle="build/tsan/$(basename "$example" .gc3).gc3b"
  build/release/tools/gc3c/gc3c "$example" -o "$bundle"
  step "tsan-$(basename "$example" .gc3)" "a race, or a wrong element" \
    build/tsan/tools/gc3-run/gc3-run "$bundle" --program all --count 0,1,1000,40000 --workers 4
done
build tidy grammar/generated/GC3Parser.h GC3BundleSchema # only generated headers and compile_commands.json
say "clang-tidy"
built() { # prints the sources that the build `tidy` compiles; this build has no CUDA
  for source in "${sources[@]}"; do
    if grep -qF "\"file\": \"$root/$source\"" build/tidy/compile_commands.json; then echo "$source"; fi
  done
}
step tidy "mend what it names" bash -c 'xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p build/tidy' < <(built | grep -v '^test/\|^bench/')
