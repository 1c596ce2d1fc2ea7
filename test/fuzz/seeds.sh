#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# seeds.sh GC3C DIRECTORY: makes the seeds of the fuzzers from the examples, the standard library and the tests: a
# folder of small files for each fuzzer, and a dictionary of the words of the language.
set -euo pipefail
gc3c=$1 seeds=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
rm -rf "$seeds"
mkdir -p "$seeds"/fuzz-{source,read-ir,bundle,mended-bundle,read-bundle,read-frames,read-job,read-msccl-xml,read-results,read-table,read-topology,read-transport,read-tune-file}

# add FUZZER NAME: adds the standard input to the seeds, unless it has more than 6000 bytes. In a long seed, most
# mutations change nothing relevant.
add() {
  local file="$seeds/$1/$2"
  cat >"$file"
  if [ "$(stat -c %s "$file")" -gt 6000 ]; then rm "$file"; fi
}

# Removes comments, because the RUN and CHECK lines of tests are useless as seeds.
while IFS= read -r file; do
  sed '/^ *\/\//d' "$file" | add fuzz-source "$(tr / - <<<"${file#"$root/"}")"
done < <(find "$root/examples" "$root/std" "$root/test/lit" -name '*.gc3' | sort)
while IFS= read -r file; do
  sed '/^ *\/\//d' "$file" | add fuzz-read-ir "$(tr / - <<<"${file#"$root/"}")"
done < <(find "$root/test/lit" -name '*.gc3-ir' -o -name '*.inst-dag' | sort)

for file in "$root"/topologies/*.json "$root"/test/lit/Sim/Inputs/import/*; do add fuzz-read-topology "$(basename "$file")" <"$file"; done

add fuzz-read-results points.json <"$root/bench/measured/points.json"
add fuzz-read-results rows.json <<'EOF'
{"rows": [{"size": 64, "time": 3, "program": "ring", "collective": "allreduce", "ranks": 8, "type": "half"},
  {"size": 8192, "out_of_place": {"time_us": 12}, "in_place": {"time_us": null}}]}
EOF
add fuzz-read-results table.txt <<'EOF'
# allreduce on 8 ranks
  1024  256  float  sum  -1  5.25  0.2  0.3  0  -  -  -  -  ring
EOF

add fuzz-read-tune-file learned.txt <<'EOF'
gc3-learned 1
machine host, 2 processors
bundle 0x0123456789abcdef
context ranks=8 hosts=1 type=4B inplace=1 allreduce
12 ring 60 35.5 0.04 1764217377
12 nccl 3 41 0 1764217377
context ranks=8 hosts=2 type=2B inplace=0 shift(n = 4, by = 1)
# a comment
63 tree/LL 1 1e+09 2 0
EOF

add fuzz-read-table rows.txt <<'EOF'
gc3-nccl-table 1
# collective ranks nodes bucket algorithm protocol channels microseconds
allreduce 8 1 10 tree ll - 12.5
allreduce 8 1 10 ring ll128 4 ?
reduce_scatter 16 2 20 nvls simple - 1e3
gc3-nccl-table 1
broadcast 2 1 63 pat simple 64 0.5
EOF

# A greeting; a message without calls, a result with the text "rank", and a failure; a question, an answer, a verdict.
zeros() { head -c "$1" /dev/zero; }
add fuzz-read-frames greeting < <(printf 'gc3greet\2\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0' && zeros 60)
add fuzz-read-frames frames < <(printf 'gcf1\0\0\x70\0' && zeros 120 && printf 'gcf1\1\0\x64\0' && zeros 104 &&
  printf 'rankgcf1\2\0\4\0' && zeros 8 && printf 'lost')
add fuzz-read-frames comparison < <(printf 'gcf1\4\0\0\0' && zeros 8 && printf 'gcf1\5\0\10\0' && zeros 16 &&
  printf 'gcf1\6\0\30\0' && zeros 32 && printf 'gcf1\7\0\4\0' && zeros 8 && printf 'rank')

# The first byte chooses the format: an identity, a message, the bytes of three ranks, environments.
add fuzz-read-job identity < <(printf '\1gci1' && zeros 12 && printf 'host')
add fuzz-read-job message < <(printf '\2gcj1\7\0\0\0\1\0\0\0' && zeros 12 && printf '\4\0\0\0\0\0\0\0lost')
add fuzz-read-job gathered < <(printf '\3\1\0\0\0\0\0\0\0\2\0\0\0abc')
add fuzz-read-job torchrun < <(printf '\4' && printf '%s\0' RANK=1 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 \
  MASTER_ADDR=a MASTER_PORT=5 'GC3_ROOT=[::1]:20')
add fuzz-read-job slurm < <(printf '\4' && printf '%s\0' SLURM_PROCID=2 SLURM_NTASKS=5 SLURM_LOCALID=0 SLURM_JOB_ID=7 \
  SLURM_STEP_ID=1 'SLURM_STEP_NODELIST=gpu[01-02,7]' SLURM_NODEID=1 'SLURM_STEP_TASKS_PER_NODE=2(x2),1')

# Frames of another host: hello, an announcement, a message of a call that begins, and one of a call that has begun.
wire() { printf '%bgcw1%b' "$1" "$2" && zeros 11 && printf '\1\0\0\0%b' "$3"; }
add fuzz-read-transport frames < <(wire '\60' '\0' '' && zeros 28 && wire '\170' '\1' '\1' && zeros 19 && printf '\1' &&
  zeros 79 && wire '\64' '\2' '\1\0\0\0\1' && zeros 7 && printf '\7' && zeros 15 && printf 'data')

grep -oE "'[a-z_]+'|'[^' a-z]{1,3}'" "$root/grammar/GC3.g4" | sort -u | sed "s/\\\\/\\\\\\\\/g;s/\"/\\\\\"/g;s/'\(.*\)'/\"\1\"/" >"$seeds/fuzz-source.dict"

# Compiles the examples for two and three ranks. Sets only the params that an example has.
for example in "$root"/examples/*.gc3; do
  name=$(basename "$example" .gc3)
  for ranks in 2 3; do
    defines=()
    for param in R:$ranks N:2 G:$((ranks - 1)) X:2 Y:$((ranks - 1)) P:2; do
      if grep -q "^param ${param%:*}:" "$example"; then defines+=("-D${param%:*}=${param#*:}"); fi
    done
    # Skip if the example does not compile for this number of ranks: some require powers of two.
    if ! "$gc3c" "$example" "${defines[@]}" -o "$seeds/bundle" 2>/dev/null; then continue; fi
    for fuzzer in fuzz-bundle fuzz-mended-bundle fuzz-read-bundle; do add $fuzzer "$name-$ranks" <"$seeds/bundle"; done
    # MSCCL XML can't express some examples.
    if "$gc3c" "$example" "${defines[@]}" --emit=msccl-xml -o "$seeds/bundle" 2>/dev/null; then
      add fuzz-read-msccl-xml "$name-$ranks" <"$seeds/bundle"
    fi
    if [ "$ranks" -eq 2 ]; then
      for level in inst-dag gc3-ir; do
        "$gc3c" "$example" "${defines[@]}" --emit=$level | add fuzz-read-ir "$name.$level"
      done
    fi
  done
done
rm -f "$seeds/bundle"
(cd "$seeds/fuzz-read-msccl-xml" && cat "$root"/test/lit/Import/*.test |
  awk '/^---- /{close(f); f = $2 ~ /\.xml$/ ? $2 : ""; next} f{print > f}')
cp "$root/test/fuzz/msccl-xml.dict" "$seeds/fuzz-read-msccl-xml.dict"
for folder in "$seeds"/*/; do
  [ -n "$(ls "$folder")" ] || { echo "no seeds for $(basename "$folder")" >&2; exit 1; }
done
