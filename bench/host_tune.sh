#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares online selection with fixed programs on the host executor (docs/online.md).
# usage: bench/host_tune.sh BUILD [ROUNDS]
# Runs with real-time priority if it may. Needs two processors.
set -euo pipefail
build=$(realpath "$1") rounds=${2:-25}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
priority=()
if chrt -f 50 true 2>/dev/null; then priority=(chrt -f 50); fi
for ranks in 2 4; do
  "$build/tools/gc3c/gc3c" "$here/host_tune.gc3" -DR=$ranks -Dshift=16 -o "$folder/$ranks.gc3b"
  echo "$ranks ranks:"
  "${priority[@]}" "$build/bench/bench-host-tune" "$folder/$ranks.gc3b" $ranks 1024 4194304 "$rounds"
done
