#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Time and peak memory of gc3c, text to verified bundle, for programs of many sizes. Needs a release build.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
gc3c="$root/build/release/tools/gc3c/gc3c"
examples="$root/examples"

measure() {
  local what=$1
  shift
  printf '%s\n' "$what"
  "$gc3c" "$@" --time-report -o /dev/null
}

measure 'Two-Step AllToAll, 32 nodes of 8 GPUs' "$examples/twostep_alltoall.gc3" -DN=32 -DG=8
measure 'Two-Step AllToAll, 64 nodes of 8 GPUs' "$examples/twostep_alltoall.gc3" -DN=64 -DG=8 --max-threadblocks 160
measure 'Ring AllReduce, 128 ranks' "$examples/ring_allreduce.gc3" -DR=128
measure 'All-Pairs AllReduce, 32 ranks' "$examples/allpairs_allreduce.gc3" -DR=32
measure 'Hierarchical AllReduce, 16 nodes of 8 GPUs' "$examples/hierarchical_allreduce.gc3" -DN=16 -DG=8 --max-threadblocks 128
