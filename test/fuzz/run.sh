#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [--build FOLDER] [--runs N | --seconds N] [FUZZER...]: runs the named fuzzers, or all, one after the other, and
# prints the coverage of each. With --runs, the runs are always the same, and no corpus is kept. With --seconds (per
# fuzzer; default 60), a fuzzer continues with the corpus of earlier calls, FOLDER/test/fuzz/corpus. Inputs that break a
# property are stored in FOLDER/test/fuzz/findings.
#
# A run fails if it takes more than a minute, uses more than 2 GiB of memory, or allocates 1 GiB at once and does not
# handle a failed allocation. Normal runs take less than a second, but machines can be busy.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build/asan-ubsan
limit=(-max_total_time=60)
keep=yes
fuzzers=()
while [ $# -gt 0 ]; do
  case $1 in
  --build) build=$2; shift ;;
  --runs) limit=(-runs="$2" -seed=1); keep=no; shift ;;
  --seconds) limit=(-max_total_time="$2"); shift ;;
  -*) sed -n '3,6s/^# //p' "$0" >&2; exit 2 ;;
  *) fuzzers+=("$1") ;;
  esac
  shift
done
folder=$build/test/fuzz
if [ ! -d "$folder/seeds" ]; then
  echo "run.sh: no fuzzers in $build; cmake --preset asan-ubsan && ninja -C build/asan-ubsan fuzzers makes them" >&2
  exit 2
fi
if [ ${#fuzzers[@]} -eq 0 ]; then mapfile -t fuzzers < <(find "$folder/seeds" -mindepth 1 -type d -printf '%f\n' | sort); fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder/findings"
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1:max_allocation_size_mb=1024"

failed=no
for fuzzer in "${fuzzers[@]}"; do
  corpus=$work/$fuzzer
  if [ $keep = yes ]; then corpus=$folder/corpus/$fuzzer; fi
  mkdir -p "$corpus"
  options=("${limit[@]}" -max_len=8192 -print_funcs=0 -timeout=60 -rss_limit_mb=2048 -artifact_prefix="$folder/findings/$fuzzer-")
  if [ -f "$folder/seeds/$fuzzer.dict" ]; then options+=(-dict="$folder/seeds/$fuzzer.dict"); fi
  begin=$SECONDS
  if "$folder/$fuzzer" "${options[@]}" "$corpus" "$folder/seeds/$fuzzer" >"$work/log" 2>&1; then
    result=$(sed -nE 's/^#([0-9]+)\s+DONE\s+cov: ([0-9]+).*/\1 runs, \2 edges reached/p' "$work/log")
    printf '%s: %s, %d s\n' "$fuzzer" "$result" $((SECONDS - begin))
  else
    failed=yes
    grep -vE '^#[0-9]+\s' "$work/log" | tail -n 60
    printf '%s: something broke after %d s\n' "$fuzzer" $((SECONDS - begin))
  fi
done
[ $failed = no ]
