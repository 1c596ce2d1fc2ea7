#!/usr/bin/env bash
# run-corpus.sh INTERPRETER TEMPORARY FILE...: imports each file and runs it on real data, in place and out of place.
# Exports the imported program. The exported file must import as the same GC3-IR, and the interpreter must run it.
set -euo pipefail
interpreter=$1 temporary=$2
shift 2
rm -rf "$temporary" && mkdir -p "$temporary"
for file in "$@"; do
  name=$(basename "$file" .xml)
  gc3c --import-msccl "$file" -o "$temporary/$name.gc3b"
  for run in "--slots 2 --order adversarial --count 1024" "--count 777 --datatype int32 --tile-elements 5"; do
    # shellcheck disable=SC2086
    gc3-run "$temporary/$name.gc3b" --program all -n 0 --rounds 1 $run >"$temporary/$name.run"
    grep -q 'Out of bounds values : 0 OK' "$temporary/$name.run" || { cat "$temporary/$name.run"; exit 1; }
  done
  gc3c --import-msccl "$file" --emit=msccl-xml --msccl-dialect=rccl -o "$temporary/$name.xml"
  gc3c --import-msccl "$temporary/$name.xml" --emit=gc3-ir | cmp - <(gc3c --import-msccl "$file" --emit=gc3-ir)
done
python3 "$interpreter" --seeds 1 "$temporary"/*.xml
