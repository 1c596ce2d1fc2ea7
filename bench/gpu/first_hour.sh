#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# first_hour.sh [--prepare FOLDER [--build BUILD] | --run FOLDER] [OPTION...]: tests and measures gc3 on a GPU machine.
# --prepare builds the programs and makes the bundles and the expected results in FOLDER, on a machine that can build
# gc3. It has no time limit. --run takes at most 30 minutes, and needs only FOLDER, a GPU and Python; its options are
# those of first_hour/run.py. Without both, does both, in build/first-hour. BUILD is a folder that CMake has configured;
# the default is build/release, which the script configures.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

# prepare FOLDER BUILD: both are absolute paths. An empty BUILD stands for the release preset.
prepare() {
  local folder=$1 build=$2
  local targets=(gc3c gc3nccl gpu-sweep gpu-test gpu-nccl-test gpu-window-test gpu-bench gpu-primitives gpu-loops)
  . "$here/../../scripts/common.sh"
  if [ -n "$(ls -A "$folder" 2>/dev/null)" ] && [ ! -f "$folder/first_hour.sh" ]; then
    die "$folder has other files; name a new folder"
  fi
  mkdir -p "$folder"
  cp "$here/first_hour.sh" "$folder/"  # first: the check above then allows a repetition after an interruption
  if [ -z "$build" ]; then
    configure release
    build=$root/build/release
  fi
  if ninja -C "$build" -t query gc3gin >"$logs/first-hour-gin.log" 2>&1; then targets+=(gc3gin); fi
  say "Building for $folder"
  step first-hour-build "does the build have CUDA?" ninja -C "$build" "${targets[@]}"
  say "Making bundles and expected results"
  rm -rf "${folder:?}/bin" "$folder/bundles" "$folder/scripts" "$folder/version"
  mkdir -p "$folder/bin" "$folder/bundles" "$folder/scripts"
  copy_programs "$build" "$folder/bin"
  local gc3c=$build/tools/gc3c/gc3c
  step first-hour-sweep "a program does not compile or run" python3 "$root/test/gpu/make_sweep.py" --gc3c "$gc3c" \
    --gpu-sweep "$folder/bin/gpu-sweep" --output "$folder/bundles/sweep"
  step first-hour-test "a program does not compile" python3 "$root/test/gpu/make_bundles.py" --gc3c "$gc3c" \
    --output "$folder/bundles/test"
  step first-hour-bench "a program does not compile" bash "$here/bundles.sh" "$gc3c" "$folder/bundles/bench"
  cp "$here"/first_hour/* "$here/run.sh" "$root"/test/gpu/{bundles,loopback,nccl}.py "$folder/scripts/"
  note_version "$build" >"$folder/version"
  say "$folder is ready: $(du -sh "$folder" | cut -f1). On the GPU machine: bash first_hour.sh --run ."
}

# copy_programs BUILD FOLDER: copies programs and libraries, without debug symbols.
copy_programs() {
  local program
  for program in "$1"/test/gpu/gpu-{sweep,test,nccl-test,window-test} "$1"/bench/gpu/gpu-{bench,primitives,loops} \
    "$1"/runtime/shim/libgc3nccl.so "$1"/runtime/gin/libgc3gin.so; do
    if [ -e "$program" ]; then cp -L "$program" "$2/"; fi
  done
  strip --strip-unneeded "$2"/*
}

# note_version BUILD: prints the commit, the date and the version of nvcc.
note_version() {
  local nvcc
  nvcc=$(sed -n 's/^set(CMAKE_CUDA_COMPILER_VERSION "\(.*\)")$/\1/p' "$1"/CMakeFiles/*/CMakeCUDACompiler.cmake)
  echo "$(git -C "$root" describe --always --dirty), prepared on $(date -u '+%Y-%m-%d') with CUDA $nvcc"
}

# absolute PATH: prints the path from the root folder, because `configure` changes the working folder.
absolute() {
  case $1 in
  /*) echo "$1" ;;
  *) echo "$PWD/$1" ;;
  esac
}

usage() {
  echo "usage: first_hour.sh [--prepare FOLDER [--build BUILD] | --run FOLDER] [OPTION...]" >&2
  exit 2
}

# Prints the beginning of this file and the options of run.py, which is in the source tree or in a prepared folder.
show_help() {
  local scripts=$here/first_hour
  [ -d "$scripts" ] || scripts=$here/scripts
  sed -n '/^# first_hour.sh/,/^set /s/^# //p' "$here/first_hour.sh"
  exec python3 -B "$scripts/run.py" --help
}

for word in "$@"; do
  case $word in -h | --help) show_help ;; esac
done
mode=both folder=$here/../../build/first-hour build=
case ${1-} in
--prepare | --run)
  mode=${1#--} folder=${2-}
  [ -n "$folder" ] || usage
  shift 2
  ;;
esac
if [ "$mode" != run ] && [ "${1-}" = --build ]; then
  [ -n "${2-}" ] || usage
  build=$2
  shift 2
fi
if [ "$mode" = prepare ] && [ $# -gt 0 ]; then usage; fi
folder=$(absolute "$folder")
if [ -n "$build" ]; then build=$(absolute "$build"); fi
# Wrong options end the script before it builds anything.
if [ "$mode" = both ]; then python3 -B "$here/first_hour/run.py" "$folder" "$@" --check; fi
if [ "$mode" != run ]; then prepare "$folder" "$build"; fi
if [ "$mode" = run ] && [ ! -f "$folder/version" ]; then
  echo "first_hour.sh: $folder is not complete; --prepare makes it" >&2
  exit 2
fi
if [ "$mode" != prepare ]; then exec python3 -B "$folder/scripts/run.py" "$folder" "$@"; fi
