#!/usr/bin/env bash
# edits.sh IR BASE TRANSCRIPT: for each line `# EDIT` of the transcript, prints the line, and the output of gc3c for
# BASE after `sed EDIT`.
set -euo pipefail
grep '^# ' "$3" | while IFS= read -r line; do
  printf '%s\n' "$line"
  sed "${line#\# }" "$2" | gc3c --from="$1" --emit="$1" - -o - 2>&1 || true
done
