#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures gc3's kernel on this machine's GPU: prints tables, and writes the same numbers as JSON to
# build/bench/gpu.json. Needs a release build with CUDA, about 24 GiB of GPU memory, and no other work on the GPU.
# Arguments are passed to gpu-bench, for example --largest 67108864. Each section is a separate process with a limit of
# SECONDS_EACH (default 90) seconds, so that the other sections still run if one fails or hangs. Without the compiler,
# uses the bundles in build/bench/gpu, which bundles.sh has made on another machine.
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

# Each rank on the GPU has its own stream, and NCCL's kernels wait for each other, so no two streams may share a
# hardware queue.
export CUDA_DEVICE_MAX_CONNECTIONS=${CUDA_DEVICE_MAX_CONNECTIONS:-32}

# Writes the existing lines as a JSON array, however the script ends.
lines=$(mktemp)
finish() {
  if [ -s "$lines" ]; then
    { echo "["; sed '$!s/$/,/' "$lines"; echo "]"; } >"$out/gpu.json"
  fi
  rm -f "$lines"
}
trap finish EXIT
# run SECTION JSON [ARGUMENT...]: returns 124 or 137 if the section has not ended in time.
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
    # Runs the section again with the watchdog, which is off while times are measured. The watchdog reports what a
    # kernel of gc3 waits for. It does not watch NCCL's kernels.
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
timeout --kill-after=10 "$limit" "$build/bench/gpu/gpu-primitives" || status=1
exit $status
