#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the pictures of docs/pictures anew: the three graphs of the README's ring and that of synthesis.md by gc3c and
# Graphviz, and a screenshot of a page by Chromium.
set -euo pipefail
. "$(dirname "$0")/../scripts/common.sh"

install_missing "${packages[@]}" chromium fonts-dejavu-core optipng
build release gc3c gc3-synth
cd "$root"
gc3c=build/release/tools/gc3c/gc3c
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

say "Drawing the graphs"
awk '/^```gc3 ring.gc3$/ { on = 1; next } /^```$/ { on = 0 } on' README.md > "$scratch/ring.gc3"
for graph in chunk-dag inst-dag gc3-ir; do
  "$gc3c" "$scratch/ring.gc3" --emit=dot --graph="$graph" | dot -Tsvg > "$scratch/ring-$graph.svg"
done

awk '/^```json box.json$/ { on = 1; next } /^```$/ { on = 0 } on' docs/synthesis.md > "$scratch/box.json"
build/release/tools/gc3-synth/gc3-synth --topology="$scratch/box.json" --collective=allgather --least-steps -k=1 -o "$scratch/box.gc3"
"$gc3c" "$scratch/box.gc3" --emit=dot | dot -Tsvg > "$scratch/box.svg"

say "Opening the page"
"$gc3c" examples/hierarchical_allreduce.gc3 -DN=2 -DG=4 --emit=html -o "$scratch/page.html"
step screenshot "Chromium can't show the page" chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
  --window-size=1440,900 --screenshot="$scratch/page.png" "file://$scratch/page.html#tick=7&step=27"
step optipng "the screenshot is no PNG" optipng -quiet -o4 -strip all "$scratch/page.png"
mv "$scratch"/*.svg "$scratch/page.png" docs/pictures/
