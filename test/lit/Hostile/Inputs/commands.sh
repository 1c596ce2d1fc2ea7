#!/usr/bin/env bash
# commands.sh TRANSCRIPT: runs each line `$ COMMAND` of the transcript in an empty folder. Prints the line, the output
# of the command, and its exit code if that is not 0. Commands can also create files for later ones.
set -uo pipefail
transcript=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
cat >ring.gc3 <<'TEXT'
param R: int = 2;
program ring implements allgather(ranks = R) {
    for r in 0..R {
        let c = chunk(r, input, 0).copy(r, output, r);
        for q in 0..R { if q != r { c.copy(q, output, r); } }
    }
}
TEXT
grep '^\$ ' "$transcript" | while IFS= read -r line; do
  printf '%s\n' "$line"
  bash -c "${line#\$ }" 2>&1 </dev/null
  code=$?
  if [ $code -ne 0 ]; then echo "exit $code"; fi
done
