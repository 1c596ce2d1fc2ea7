#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# seeds.sh DIRECTORY: what the fuzzers of imported files begin with, DIRECTORY/msccl-xml and DIRECTORY/bundle: small programs, and the
# files of the tests. gc3c must be in PATH. Then, for as long as one likes:
#   build/asan-ubsan/test/fuzz/fuzz-read-msccl-xml -dict=test/fuzz/msccl-xml.dict -max_len=6000 DIRECTORY/msccl-xml
#   build/asan-ubsan/test/fuzz/fuzz-read-bundle -max_len=6000 DIRECTORY/bundle
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "$1/msccl-xml" "$1/bundle"
for program in ring_allreduce allpairs_allreduce ring_allgather ring_reduce_scatter direct_alltoall chain_broadcast; do
  for ranks in 2 3; do
    source="$root/examples/$program.gc3"
    gc3c "$source" -DR=$ranks -o "$1/bundle/$program-$ranks.gc3b"
    gc3c "$source" -DR=$ranks --emit=msccl-xml -o "$1/msccl-xml/$program-$ranks.xml" || true # some it can't hold
  done
done
cd "$1/msccl-xml"
awk '/^---- /{close(f); f = $2 ~ /\.xml$/ ? $2 : ""; next} f{print > f}' "$root"/test/lit/Import/*.test
