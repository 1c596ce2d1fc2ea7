# SPDX-License-Identifier: Apache-2.0
# Functions that the scripts share. They print what they do, show the end of the log if a command fails, and skip work
# that is already done. Source this file after `set -euo pipefail`.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs="$root/build/logs"
mkdir -p "$logs"

packages=(g++ cmake ninja-build make pkgconf antlr4 libantlr4-runtime-dev llvm-14-dev llvm-14-tools zlib1g-dev
  libflatbuffers-dev flatbuffers-compiler libxxhash-dev libasio-dev libsodium-dev libucx-dev libexpat1-dev libgtest-dev libz3-dev liblemon-dev python3 graphviz spin)
# The tests of the Python package are skipped without these.
python_packages=(python3-numpy python3-pytest mypy python3-torch python3-pip python3-setuptools python3-wheel)

if [ -t 2 ]; then bold=$'\033[1m' plain=$'\033[0m'; else bold='' plain=''; fi
say() { printf '%s==> %s%s\n' "$bold" "$*" "$plain" >&2; }
die() { printf 'gc3: %s\n' "$*" >&2; exit 1; }

# step NAME ADVICE COMMAND...: runs a command with its output in a log. Prints ADVICE if the command fails.
step() {
  local name=$1 advice=$2 log="$logs/$1.log" begin=$SECONDS
  shift 2
  if "$@" >"$log" 2>&1; then
    printf '    %s done (%d s)\n' "$name" $((SECONDS - begin)) >&2
  else
    local code=$?
    tail -n 40 "$log" >&2
    die "$name failed (exit $code): $advice. All of its output: $log"
  fi
}

# install_missing PACKAGE...: installs the packages that are not installed yet.
install_missing() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  say "Installing ${#missing[@]} packages: ${missing[*]}"
  command -v apt-get >/dev/null || die "this is not a Debian system; install by hand: ${missing[*]}"
  local run=(env DEBIAN_FRONTEND=noninteractive)
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "installing packages needs root; run this as root, or install: ${missing[*]}"
    run=(sudo "${run[@]}")
  fi
  step apt-update "the package lists can't be fetched; is there a network?" "${run[@]}" apt-get update
  step apt-install "the packages can't be installed" "${run[@]}" apt-get install -y --no-install-recommends "${missing[@]}"
}

# configure PRESET: configures if necessary. The working folder is the root of the sources afterwards.
configure() {
  cd "$root"
  if [ ! -f "build/$1/build.ninja" ]; then
    say "Configuring ($1)"
    step "configure-$1" "CMake found something missing" cmake --preset "$1"
  fi
}

# build PRESET [TARGET...]: configures if necessary, and builds. Prints the progress after each tenth of the work.
build() {
  local preset=$1 log="$logs/build-$1.log"
  shift
  configure "$preset"
  say "Building ($preset)"
  local code=0
  ninja -C "build/$preset" "$@" 2>&1 | tee "$log" | show_progress || code=$?
  if [ "$code" -ne 0 ]; then
    grep -E -A12 'error|FAILED' "$log" | head -n 60 >&2 || true
    die "the build failed. All of its output: $log"
  fi
}

# Reads Ninja's output, and prints a line for each tenth of the work.
show_progress() {
  local line last=-1 done total tenth
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] && $line != *'Re-checking globbed'* ]]; then
      done=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
      tenth=$((done * 10 / total))
      if [ "$tenth" -ne "$last" ]; then
        printf '    %3d%% (%d of %d)\n' $((done * 100 / total)) "$done" "$total" >&2
        last=$tenth
      fi
    fi
  done
}

# run_tests PRESET ARGUMENT...: runs the tests that ctest's arguments select, after it has built what these tests need.
run_tests() {
  local preset=$1 targets
  shift
  configure "$preset"
  mapfile -t targets < <(python3 "$root/scripts/test_targets.py" "build/$preset" "$@")
  if [ ${#targets[@]} -gt 0 ]; then build "$preset" "${targets[@]}"; fi
  say "Testing ($preset)"
  ctest --preset "$preset" --no-tests=error "$@" || die "tests fail"
}
