#!/usr/bin/env bash
# run-example.sh PROGRAM TEMPORARY "DEFINES"...: compiles the program for each set of defines with 8 slots and with 1, fused and
# not, and runs what came out, every element checked.
set -euo pipefail
program=$1 temporary=$2
shift 2
name=$(basename "$program" .gc3)
run() { gc3-run "$temporary.gc3b" --program "$name" "$@" >"$temporary.out" || { cat "$temporary.out"; exit 1; }; }
for defines in "$@"; do
  for options in "" "--fifo-slots=1" "--no-fusion --verify=exact"; do
    echo "$name $defines $options"
    # shellcheck disable=SC2086
    gc3c "$program" $defines $options -o "$temporary.gc3b"
    for count in 0 1 7 1000; do run --count "$count"; done
    run -b 64KiB -e 64KiB
    for seed in 1 2; do run --count 61 --order adversarial --seed "$seed"; done
    run --count 29 -d int32 -o max
  done
done
