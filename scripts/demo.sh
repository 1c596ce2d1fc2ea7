#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds the compiler and the runtime, compiles examples/hierarchical_allreduce.gc3 and runs
# it on the host. The calls reduce floats, from 1 KiB to 64 MiB, in place and out of place. gc3-run checks every
# element.
set -euo pipefail
. "$(dirname "$0")/common.sh"

install_missing "${packages[@]}"
build release gc3c gc3-run
cd "$root"
say "Compiling examples/hierarchical_allreduce.gc3 (2 nodes of 8 GPUs)"
build/release/tools/gc3c/gc3c examples/hierarchical_allreduce.gc3 -o build/hierarchical_allreduce.gc3b
say "Running build/hierarchical_allreduce.gc3b on the host executor"
build/release/tools/gc3-run/gc3-run build/hierarchical_allreduce.gc3b --program hierarchical_allreduce -b 1KiB -e 64MiB -f 2 "$@"
say "Built gc3c and gc3-run, in build/release/tools. This command builds the rest: ninja -C build/release"
