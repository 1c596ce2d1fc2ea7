#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the checks that scripts/test.sh does not run: format, the site of the documentation, Debian packages, the page in
# a browser, clang, sanitizers, clang-tidy. With --deep, also runs the sweeps that take hours: for releases, and once a
# week.
set -euo pipefail
. "$(dirname "$0")/common.sh"

deep=no
if [ "${1-}" = --deep ]; then deep=yes; shift; fi
if [ $# -gt 0 ]; then die "usage: check.sh [--deep]"; fi
install_missing "${packages[@]}" "${python_packages[@]}" clang clang-format clang-tidy libclang-rt-14-dev dpkg-dev file \
  chromium chromium-driver mkdocs zsh
cd "$root"
mapfile -t sources < <(git ls-files '*.cpp' '*.h' | grep -v generated)
mapfile -t kernels < <(git ls-files '*.cu' '*.cuh')

say "Checking the format"
step format "run clang-format -i on the files named" clang-format --dry-run --Werror "${sources[@]}" "${kernels[@]}"
say "Building the site of the documentation" # into build/site
step site "mend what it names in docs/ or mkdocs.yml" mkdocs build --strict
step site-links "mend the links that it names" python3 test/site_links.py build/site
run_tests release -R '^(package\.deb|browser)' # scripts/test.sh skips them where their packages are not installed

# The readers of untrusted files, and the compiler, without the ten tests of lit that take longest. With --deep all tests.
if [ $deep = no ]; then
  LIT_FILTER_OUT=' (Emit/(msccl-(allreduce|examples)|dot-graphviz)|Synth/(greedy|collectives|documentation)|Diagnostics/gallery|Examples/costs|IR/round-trip|Driver/documentation)\.test$' \
    run_tests asan-ubsan -R '^(lit|fuzz\..*|unit\.(bundle|hostile|api|element|transfers|front|text|import|claims|topology|synth|tuner|simulate|selector|schedule|agreement|net|tune-file|sites|hosts|buffer-arena|call-table|processes)-tests?)$'
else
  run_tests asan-ubsan -E '^browser'
fi
# Only the runtime has threads. Tests of comm-test that emulate kernels for minutes run with --deep only.
GTEST_FILTER='-Comm.*:CommNetwork.CallsLeave*:CommNetwork.RanksMay*:CommNetwork.ARankOn*:CommSplit.RanksMay*:UserWindows.*:Switch*:OnlineComm.AHeld*:OnlineComm.AProgram*:OnlineComm.Events*:ShapesComm.*' \
  run_tests tsan -R '^unit\.(element|transfers|bundle|api|run|trace|fake-nccl|call-lines|nccl-front|nccl-online|agreement|net|tuner|comm)-test$'
build tsan nccl-api-test gc3-run
TSAN_OPTIONS=report_thread_leaks=0 step tsan-api "a race between threads of the C API" \
  build/tsan/test/comm/nccl-api-test --gtest_filter=-OnlineGpu.* # a rank that timed out in NCCL's split keeps its thread
for example in examples/*.gc3; do
  bundle="build/tsan/$(basename "$example" .gc3).gc3b"
  build/release/tools/gc3c/gc3c "$example" -o "$bundle"
  step "tsan-$(basename "$example" .gc3)" "a race, or a wrong element" \
    build/tsan/tools/gc3-run/gc3-run "$bundle" --program all --count 0,1,1000,40000 --workers 4
done

# Prints the sources that clang-tidy checks: those that the last 20 commits changed, or all with --deep.
sources_to_tidy() {
  local since source
  since=$(git rev-parse --quiet --verify HEAD~20) || since=$(git hash-object -t tree /dev/null)
  if [ $deep = yes ]; then since=$(git hash-object -t tree /dev/null); fi
  git diff --name-only --diff-filter=d "$since" -- '*.cpp' | grep -v '^test/\|^bench/\|generated' | while read -r source; do
    if grep -qF "\"file\": \"$root/$source\"" build/tidy/compile_commands.json; then echo "$source"; fi # it has no CUDA
  done || true
}
build tidy grammar/generated/GC3Parser.h GC3BundleSchema # the generated headers, and the commands of each source
say "clang-tidy"
step tidy "mend what it names" bash -c 'xargs -r -P "$(nproc)" -n 4 clang-tidy --quiet -p build/tidy' < <(sources_to_tidy)

if [ $deep = no ]; then exit; fi
gc3c=build/release/tools/gc3c/gc3c
say "Deep sweeps"
GC3_DEEP=1 run_tests release -R '^lit$'
GC3_DEEP=1 step deep-manual-blocks "the log has the program" build/release/test/unit/middle/middle-test \
  --gtest_filter='*ManualBlocks*'
step deep-random "the log has the program" python3 test/random/run.py --gc3c $gc3c --gc3-run build/release/tools/gc3-run/gc3-run \
  --seeds 10000 --jobs "$(nproc)"
step deep-device "the log has the program" python3 test/device/run.py --gc3c $gc3c --emulate build/release/test/device/emulate \
  --seeds 20 --random 100
ptx=(env "EMULATED_PTX=$root/build/release/ptx" "EMULATED_PTX_COVERAGE=$root/build/release/ptx-coverage")
rm -f build/release/ptx-coverage
if [ -d build/release/ptx ]; then # nvcc was found
  step deep-ptx "the log has the kernel" "${ptx[@]}" build/release/test/ptx/ptx-test
  step deep-ptx-device "the log has the test" "${ptx[@]}" build/release/test/device/device-test
  step deep-ptx-programs "the log has the program" "${ptx[@]}" python3 test/device/run.py --gc3c $gc3c \
    --emulate build/release/test/device/emulate --seeds 20 --random 50
  step deep-ptx-coverage "the log has the kernels" python3 test/ptx/coverage.py build/release/ptx-coverage --least 90
  step deep-ptx-mutants "the log has the mutants that no test notices" python3 test/ptx/mutants.py build/release build/tsan/*.gc3b \
    --jobs "$(nproc)"
else
  echo "SKIPPED: there is no build/release/ptx (no nvcc, or not for sm_90), so NO deep test executes the PTX of the kernels" >&2
fi
step deep-mutation "the log has the mutant" bash test/mutation/run.sh $gc3c build/release/test/mutation/mutation-table "$root" \
  --mutants 60 --random 600
step deep-fuzz "build/asan-ubsan/test/fuzz/findings has the input" bash test/fuzz/run.sh --seconds 300
step deep-select-model "the log has the model" python3 test/select/check_models.py --deep
step deep-tsan-comm "a race between threads of communicators" build/tsan/test/comm/comm-test
step deep-comm-mutants "the log has the mutants that no test notices" python3 test/comm/mutants.py build/release
