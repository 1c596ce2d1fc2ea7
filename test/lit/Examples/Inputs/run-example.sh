#!/usr/bin/env bash
# run-example.sh PROGRAM TEMPORARY "DEFINES"...: compiles the program for each set of defines, with 8 slots and with 1,
# with and without fusion. Runs each bundle and checks every element.
set -euo pipefail
program=$1 temporary=$2
shift 2
name=$(basename "$program" .gc3)
compile() { gc3c "$program" "${defines[@]}" --verify=exact "$@" -o "$temporary.gc3b"; }
run() {
  gc3-run "$temporary.gc3b" --program "$name" -n 0 "$@" >"$temporary.out" || { cat "$temporary.out"; exit 1; }
}
for words in "$@"; do
  echo "$name $words"
  read -ra defines <<<"$words"
  compile
  run --count 0,1,7,1000,20011
  run --count 0,1,7,61,1000 --order adversarial --seed 1
  compile --fifo-slots=1
  run --count 61 --order adversarial --seed 2
  compile --no-fusion
  run --count 29 -d int32 -o max
done
