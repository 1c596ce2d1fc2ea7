#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares gc3's host executor with OpenMPI in one run, with 2 ranks on processors 0 and 1, and floats. Needs a release
# build and `apt-get install libopenmpi-dev openmpi-bin`. If libgloo-dev is installed, too, also compares it with Gloo.
# docs/performance-host.md explains the columns.
# Usage: bench/host_vs_mpi.sh [SMALLEST LARGEST [COLLECTIVE]], in bytes; SAMPLES=n samples per point. The processes'
# buffers are of gc3HostMemAlloc; BUFFERS=ordinary: of malloc.
set -euo pipefail
case "${3:-allreduce}" in
  allreduce | allgather | alltoall | reducescatter | broadcast) ;;
  *) echo "no collective '$3'; usage: bench/host_vs_mpi.sh [SMALLEST LARGEST [allreduce|allgather|alltoall|reducescatter|broadcast]]" >&2; exit 2 ;;
esac
root=$(cd "$(dirname "$0")/.." && pwd)
build="$root/build/release"
out="$root/build/bench"
command -v mpicxx >/dev/null || { echo "no mpicxx: apt-get install libopenmpi-dev openmpi-bin" >&2; exit 1; }
[ "$(nproc)" -ge 2 ] || { echo "needs two processors" >&2; exit 1; }
mkdir -p "$out"
"$build/tools/gc3c/gc3c" "$root/bench/host.gc3" -o "$out/host.gc3b"
"$build/tools/gc3c/gc3c" "$root/bench/host.gc3" -DR=8 -Dsmall=1 -o "$out/host8.gc3b"
"$build/tools/gc3c/gc3c" "$root/bench/host.gc3" -DR=8 -Dsmall=32KiB -o "$out/processes8.gc3b" # waits cost more
flags=(-O2 -march=native -std=c++20 -Wall -Wextra -DOMPI_SKIP_MPICXX -I "$root/runtime/include" -I "$root/bench" -pthread
  -L "$build/runtime/api" -Wl,-rpath,"$build/runtime/api")
mpicxx "$root/bench/HostVsMpi.cpp" -o "$out/host_vs_mpi" "${flags[@]}" -lgc3
mpicxx "$root/bench/ProcessesVsMpi.cpp" -o "$out/processes_vs_mpi" "${flags[@]}" -lgc3
c++ "$root/bench/HostRanks.cpp" -o "$out/host_ranks" "${flags[@]}" -lgc3

priority=()
if chrt -r 50 true 2>/dev/null; then priority=(chrt -r 50); fi # otherwise other processes disturb the times
root_too=()
if [ "$(id -u)" -eq 0 ]; then root_too=(--allow-run-as-root); fi
# The best settings of OpenMPI for two processes on one machine: OpenMPI uses the protocol with one copy up to 64 KiB,
# and returns no memory to the system between calls.
export MALLOC_TRIM_THRESHOLD_=17179869184 MALLOC_TOP_PAD_=268435456 MALLOC_MMAP_MAX_=0
echo "2 ranks on 2 processors, float; gc3: threads of one process, or two processes; MPI: $(ompi_info --version | head -n 1), two processes"
mpi=(mpirun "${root_too[@]}" --bind-to none --oversubscribe --mca btl vader,self --mca btl_vader_eager_limit 65536)
"${priority[@]}" "${mpi[@]}" -n 2 --mca mpi_yield_when_idle 0 \
  "$out/host_vs_mpi" "$out/host.gc3b" "${SAMPLES:-11}" "${1:-1024}" "${2:-268435456}" "${@:3}"

[ $# -eq 0 ] || exit 0
echo
echo "AllReduce of 8 ranks on 2 processors, gc3 alone"
"${priority[@]}" "$out/host_ranks" "$out/host8.gc3b" 8 "${SAMPLES:-11}" 65536 67108864

echo
echo "8 ranks on 2 processors, float; gc3: two threads with 4 ranks each, or 8 processes; MPI: 8 processes"
"${mpi[@]}" -n 8 --mca mpi_yield_when_idle 1 "$out/processes_vs_mpi" "$out/processes8.gc3b" "${SAMPLES:-11}" 1024 16777216

echo
if [ ! -e /usr/include/gloo/context.h ]; then
  echo "Gloo is not measured: apt-get install libgloo-dev" >&2
  exit 0
fi
echo "2 ranks on 2 processors, float; gc3: two processes; Gloo: the same processes, over TCP"
mpicxx "$root/bench/HostVsGloo.cpp" -o "$out/host_vs_gloo" "${flags[@]}" -lgc3 -lgloo
rm -rf "$out/gloo"
mkdir "$out/gloo"
"${priority[@]}" "${mpi[@]}" -n 2 --mca mpi_yield_when_idle 0 "$out/host_vs_gloo" "$out/host.gc3b" "${SAMPLES:-11}" 1024 67108864 4 "$out/gloo"
