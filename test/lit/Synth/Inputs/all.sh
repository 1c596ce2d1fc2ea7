# all.sh FOLDER TOPOLOGY COLLECTIVE OPTION...: finds a program, and checks that a second search finds the same one.
# Compiles it in place and out of place, if both are possible, and runs it in both orders.
set -euo pipefail
folder=$1 topology=$2 collective=$3
shift 3
mkdir -p "$folder"
cd "$folder"
find_it() { gc3-synth --topology="$topology" --collective="$collective" --quiet -o found.gc3 "$@"; }
find_it "$@"
mv found.gc3 first.gc3
find_it "$@"
diff first.gc3 found.gc3
placements=(-I.)
if grep -q '^param inplace' found.gc3; then placements=(-Dinplace=true -Dinplace=false); fi
for placement in "${placements[@]}"; do
  gc3c found.gc3 "$placement" --verify=exact -o found.gc3b
  gc3-run found.gc3b --program all --count 1,1000 -n 0 >run.txt
  gc3-run found.gc3b --program all --count 97 -n 0 --order adversarial >run.txt
done
echo "$topology $collective: right"
