#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh GC3C MUTATION-TABLE ROOT [OPTIONS OF MUTATION-TABLE...]: compiles the examples with the params of examples.txt,
# with and without fusion. Checks mutants of these programs and prints the table.
set -euo pipefail
gc3c=$1 table=$2 root=$3
shift 3
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
files=()
while read -ra words; do
  name=${words[0]}
  for fusion in --fifo-slots=8 --no-fusion; do
    file=$temporary/${#files[@]}-$name.gc3-ir
    "$gc3c" "$root/examples/$name.gc3" --program "$name" "${words[@]:1}" "$fusion" --emit=gc3-ir -o "$file"
    files+=("$file")
  done
done <"$root/test/mutation/examples.txt"
"$table" "$@" "${files[@]}"
