#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What gc3's kernel costs on this machine's GPU: tables, and the same as JSON in build/bench/gpu.json. Needs a release build
# with CUDA, about 24 GiB of GPU memory, and nobody else on the GPU. What follows is for gpu-bench, say --largest 67108864.
# Each section is a process of its own with SECONDS_EACH (90) at most, so that one that fails or hangs leaves the others.
# Without the compiler it takes the bundles that bundles.sh has made elsewhere, in build/bench/gpu.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/release
out=$root/build/bench
limit=${SECONDS_EACH:-90}
mkdir -p "$out"
if [ -x "$build/tools/gc3c/gc3c" ]; then
  bash "$root/bench/gpu/bundles.sh" "$build/tools/gc3c/gc3c" "$out/gpu"
elif [ ! -d "$out/gpu" ]; then
  echo "bench/gpu/run.sh: no gc3c to make bundles with, and none in $out/gpu (bench/gpu/bundles.sh makes them elsewhere)" >&2
  exit 2
fi

# Ranks on one GPU have a stream each, and NCCL's kernels wait for each other: none may be behind another in a queue.
export CUDA_DEVICE_MAX_CONNECTIONS=${CUDA_DEVICE_MAX_CONNECTIONS:-32}

# Whatever ends this: an array of the lines that are there, if there are any.
lines=$(mktemp)
finish() {
  if [ -s "$lines" ]; then
    { echo "["; sed '$!s/$/,/' "$lines"; echo "]"; } >"$out/gpu.json"
  fi
  rm -f "$lines"
}
trap finish EXIT
# run SECTION JSON [ARGUMENT...]: 124 or 137 if it has not ended in time.
run() {
  section=$1 json=$2
  shift 2
  timeout --kill-after=10 "$limit" "$build/bench/gpu/gpu-bench" "$out/gpu" --section "$section" --json "$json" "$@"
}
status=0
for section in ring alltoall protocols steps latency nccl; do
  code=0
  run "$section" "$lines" "$@" || code=$?
  case $code in
  0) ;;
  2 | 77) exit $code ;;
  124 | 137)
    echo "FAILED: $section: it had not ended after $limit s" >&2
    echo "{\"failed\": \"$section\", \"why\": \"it had not ended after $limit s\"}" >>"$lines"
    status=1
    # Once more under the watchdog, which is not in what is timed: it says what a kernel of gc3's waits for. NCCL's are
    # not watched.
    [ "$section" = nccl ] || GC3_TIMEOUT_MS=20000 run "$section" /dev/null "$@" || true
    ;;
  1) status=1 ;;
  *)
    echo "FAILED: $section: exit status $code" >&2
    echo "{\"failed\": \"$section\", \"why\": \"exit status $code\"}" >>"$lines"
    status=1
    ;;
  esac
done
exit $status
