#!/usr/bin/env bash
# reject-broken.sh INTERPRETER FILE SED MESSAGE [OPTION...]: edits a copy of the file with sed. The interpreter must
# reject the copy with this message.
set -euo pipefail
interpreter=$1 file=$2 sed=$3 message=$4
shift 4
sed "$sed" "$file" >"$file.broken"
! cmp -s "$file" "$file.broken" || { echo "'$sed' changes nothing"; exit 1; }
if output=$(python3 "$interpreter" "$file.broken" "$@" 2>&1); then
  echo "'$sed' passes: $output"
  exit 1
fi
[[ $output == *"$message"* ]] || { echo "'$sed' fails for another reason: $output"; exit 1; }
