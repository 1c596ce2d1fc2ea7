#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures gc3's kernel on this machine's GPU: prints tables, and writes the same numbers as JSON to
# build/bench/gpu.json. Needs a release build with CUDA, about 24 GiB of GPU memory, and no other work on the GPU.
# Arguments are passed to gpu-bench, for example --largest 67108864. Each section is a separate process with a limit of
# SECONDS_EACH (default 90) seconds, so that the other sections still run if one fails or hangs. Without the compiler,
# uses the bundles in build/bench/gpu, which bundles.sh has made on another machine.
# These variables change the defaults: SECTIONS, TOOLS (the folder of the programs), BUNDLES and OUT (folders).
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/release
out=${OUT:-$root/build/bench}
tools=${TOOLS:-$build/bench/gpu}
bundles=${BUNDLES:-$out/gpu}
limit=${SECONDS_EACH:-90}
mkdir -p "$out"
if [ -z "${BUNDLES:-}" ] && [ -x "$build/tools/gc3c/gc3c" ]; then
  bash "$root/bench/gpu/bundles.sh" "$build/tools/gc3c/gc3c" "$bundles"
elif [ ! -d "$bundles" ]; then
  echo "bench/gpu/run.sh: no gc3c to make bundles with, and none in $bundles (bench/gpu/bundles.sh makes them elsewhere)" >&2
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
trap 'exit 143' TERM
# run SECTION JSON [ARGUMENT...]: returns 124 or 137 if the section has not ended in time.
run() {
  local section=$1 json=$2
  shift 2
  case $section in
  primitives | loops) set -- "$tools/gpu-$section" --json "$json" ;;
  *) set -- "$tools/gpu-bench" "$bundles" --section "$section" --json "$json" "$@" ;;
  esac
  # In the foreground, the section stays in this script's process group, so that a signal to the group ends it.
  timeout --foreground --kill-after=10 "$limit" "$@"
}
status=0
for section in ${SECTIONS:-ring alltoall protocols steps latency nccl primitives loops}; do
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
    # kernel of gc3 waits for. It watches no other kernels.
    case $section in
    nccl | primitives | loops) ;;
    *) GC3_TIMEOUT_MS=20000 run "$section" /dev/null "$@" || true ;;
    esac
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
