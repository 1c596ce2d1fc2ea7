#!/usr/bin/env bash
# export-example.sh INTERPRETER PROGRAM TEMPORARY DIALECTS PROMISE "DEFINES"...: exports the program as MSCCL XML for
# each set of defines, with and without fusion. A second export must give the same bytes. Interprets each file. PROMISE
# is the promise of a custom collective, or empty.
set -euo pipefail
interpreter=$1 program=$2 temporary=$3 dialects=$4 promise=$5
shift 5
ensures=()
[ -z "$promise" ] || ensures=(--ensures "$promise")
rm -rf "$temporary" && mkdir -p "$temporary"
for defines in "$@"; do
  for dialect in $dialects; do
    for options in "" "--no-fusion" "--fifo-slots=1"; do
      file="$temporary/$dialect $defines $options.xml"
      # shellcheck disable=SC2086
      for output in "$file" "$temporary/again"; do
        gc3c "$program" $defines $options --emit=msccl-xml --msccl-dialect="$dialect" -o "$output"
      done
      cmp "$file" "$temporary/again"
    done
  done
done
python3 "$interpreter" --seeds 3 "${ensures[@]}" "$temporary"/*.xml
