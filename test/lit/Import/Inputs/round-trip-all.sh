#!/usr/bin/env bash
# round-trip-all.sh ROUND-TRIP EXAMPLES TEMPORARY: round-trip.sh for each example; what is not exported must have said why not.
set -euo pipefail
exported=0
for program in "$2"/*.gc3; do
  [ "$(basename "$program")" != alltonext.gc3 ] || continue # a collective of its own
  if gc3c "$program" --emit=msccl-xml -o /dev/null 2>"$3.txt"; then
    bash "$1" "$program" "$3" msccl "" ""
    exported=$((exported + 1))
  else
    grep -qE '\[(inexpressible|several-programs|runtime-limit)\]' "$3.txt"
  fi
done
echo "$exported exported"
[ "$exported" -ge 15 ]
