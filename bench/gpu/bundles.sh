#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bundles.sh GC3C FOLDER: makes the bundles for gpu-bench, which may run on another machine.
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: bench/gpu/bundles.sh GC3C FOLDER" >&2; exit 2; }
source="$(dirname "$0")/bench.gc3"
mkdir -p "$2"
for program in ring_simple ring_ll ring_ll128 alltoall allpairs_ll nothing; do
  "$1" "$source" --program="$program" -o "$2/$program.gc3b"
done
for program in steps messages; do
  for n in 1 101; do
    "$1" "$source" --program="$program" -DN="$n" -o "$2/${program}_$n.gc3b"
  done
done
