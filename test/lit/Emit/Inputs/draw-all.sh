# draw-all.sh EXAMPLES OUT: draws every graph of every example with Graphviz. Warnings are errors.
set -euo pipefail
shopt -s nullglob
for source in "$1"/*.gc3; do
  for graph in chunk-dag inst-dag gc3-ir; do
    name="$2/$(basename "$source" .gc3)-$graph"
    gc3c "$source" --emit=dot --graph="$graph" -o "$name.dot"
    dot -Tsvg "$name.dot" -o "$name.svg" 2>"$name.err"
    [ ! -s "$name.err" ] || { cat "$name.err"; exit 1; }
    for kind in node edge; do
      pattern='^ *n[0-9]+ \['
      [ "$kind" = node ] || pattern='^ *n[0-9]+ -> n[0-9]+ '
      wanted=$(grep -cE "$pattern" "$name.dot")
      drawn=$(grep -c "class=\"$kind\"" "$name.svg")
      [ "$wanted" -eq "$drawn" ] || { echo "$name: $drawn of $wanted ${kind}s drawn"; exit 1; }
    done
  done
done
