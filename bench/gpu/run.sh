#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What gc3's kernel costs on this machine's GPU: tables, and the same as JSON in build/bench/gpu.json. Needs a release build
# with CUDA, about 24 GiB of GPU memory, and nobody else on the GPU. What follows is for gpu-bench, say --largest 67108864.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/release
out=$root/build/bench
mkdir -p "$out"
bash "$root/bench/gpu/bundles.sh" "$build/tools/gc3c/gc3c" "$out/gpu"
exec "$build/bench/gpu/gpu-bench" "$out/gpu" --json "$out/gpu.json" "$@"
