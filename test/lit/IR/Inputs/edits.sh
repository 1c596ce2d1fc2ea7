#!/usr/bin/env bash
# edits.sh IR BASE TRANSCRIPT: for each line `# EDIT` of the transcript, prints it, and what gc3c says of BASE after `sed EDIT`.
set -euo pipefail
grep '^# ' "$3" | while IFS= read -r line; do
  printf '%s\n' "$line"
  sed "${line#\# }" "$2" | gc3c --from="$1" --emit="$1" - -o - 2>&1 || true
done
