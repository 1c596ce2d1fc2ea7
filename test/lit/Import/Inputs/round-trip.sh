#!/usr/bin/env bash
# round-trip.sh PROGRAM TEMPORARY DIALECTS COLLECTIVE "OPTIONS"...: an exported program must be right when it is
# imported, and must export as the same bytes. COLLECTIVE names a custom collective, or is empty. (import-test compares
# all steps and waits.)
set -euo pipefail
program=$1 temporary=$2 dialects=$3
asked=()
[ -z "$4" ] || asked=("--collective=$4")
shift 4
for options in "$@"; do
  echo "$(basename "$program") $options"
  for dialect in $dialects; do
    # shellcheck disable=SC2086
    gc3c "$program" $options --emit=msccl-xml --msccl-dialect="$dialect" -o "$temporary.xml"
    gc3c --import-msccl "$temporary.xml" "${asked[@]}" --emit=msccl-xml --msccl-dialect="$dialect" -o "$temporary.again.xml"
    cmp "$temporary.xml" "$temporary.again.xml"
    gc3c --verify-only "$temporary.xml" "${asked[@]}" | grep -q '\.xml: right: '
  done
done
