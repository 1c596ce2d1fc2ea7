#!/usr/bin/env bash
# round-trip.sh PROGRAM TEMPORARY "OPTIONS"...: for each set of options, the IRs that gc3c prints of the program must
# read back, print identically, and make the same bundle as the program. --dump of that bundle must print the same
# GC3-IR.
set -euo pipefail
program=$1 temporary=$2
shift 2
for options in "$@"; do
  echo "$(basename "$program") $options"
  # shellcheck disable=SC2086
  gc3c "$program" $options -o "$temporary.gc3b"
  for level in inst-dag gc3-ir; do
    # shellcheck disable=SC2086
    gc3c "$program" $options --emit="$level" -o "$temporary.text"
    gc3c --from="$level" "$temporary.text" --emit="$level" | cmp - "$temporary.text"
    scheduling=
    if [[ $level == inst-dag && $options == *--fifo-slots* ]]; then scheduling=--fifo-slots=1; fi
    gc3c --from="$level" "$temporary.text" $scheduling -o "$temporary.again.gc3b"
    cmp "$temporary.again.gc3b" "$temporary.gc3b"
  done
  gc3c --dump "$temporary.gc3b" | sed '1,/^$/d' | cmp - <(sed 's/^gc3-ir/\n&/' "$temporary.text" | sed '1{/^$/d}')
done
