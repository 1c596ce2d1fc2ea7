#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares gc3 between hosts with Open MPI, UCX's own ucx_perftest, and iperf3, over TCP. The two hosts are network
# namespaces of this machine with a cable (veth) between them. Needs root, two processors, a release build with UCX, and
# `apt-get install iproute2 libopenmpi-dev openmpi-bin ucx-utils iperf3`. docs/performance-host.md explains the columns.
# Usage: bench/hosts.sh [allreduce|latency|throughput]; SAMPLES=n samples per point; BUILD=folder of the build.
set -euo pipefail
case "${1:-all}" in
  all | allreduce | latency | throughput) ;;
  *) echo "no part '$1'; usage: bench/hosts.sh [allreduce|latency|throughput]" >&2; exit 2 ;;
esac
root=$(cd "$(dirname "$0")/.." && pwd)
build="${BUILD:-$root/build/release}"
out="$root/build/bench"
samples="${SAMPLES:-11}"
for tool in ip mpicxx ucx_perftest iperf3; do
  command -v "$tool" >/dev/null || { echo "no $tool: see the top of this file" >&2; exit 1; }
done
[ "$(id -u)" -eq 0 ] || { echo "network namespaces need root" >&2; exit 1; }

network=10.214.7.0/24
addresses=(10.214.7.1 10.214.7.2)
namespaces=(gc3-bench-a gc3-bench-b)
devices=(gc3-bench-va gc3-bench-vb)
remove() {
  for name in "${namespaces[@]}"; do ip netns del "$name" 2>/dev/null || true; done
}
trap remove EXIT
for name in "${namespaces[@]}"; do
  ip netns add "$name"
  ip -n "$name" link set lo up
done
ip link add "${devices[0]}" netns "${namespaces[0]}" type veth peer name "${devices[1]}" netns "${namespaces[1]}"
for host in 0 1; do
  ip -n "${namespaces[$host]}" addr add "${addresses[$host]}/24" dev "${devices[$host]}"
  ip -n "${namespaces[$host]}" link set "${devices[$host]}" up
done
priority=()
if chrt -r 50 true 2>/dev/null; then priority=(chrt -r 50); fi # otherwise other processes disturb the times
on() { # HOST COMMAND...
  local host=$1
  shift
  "${priority[@]}" ip netns exec "${namespaces[$host]}" "$@"
}

mkdir -p "$out"
for ranks in 1 2; do "$build/tools/gc3c/gc3c" "$root/bench/hosts.gc3" -DG=$ranks -o "$out/hosts$ranks.gc3b"; done
mpicxx "$root/bench/HostsVsMpi.cpp" -o "$out/hosts_vs_mpi" -O2 -march=native -std=c++20 -Wall -Wextra \
  -DOMPI_SKIP_MPICXX -I "$root/runtime/include" -I "$root/bench" -L "$build/runtime/api" \
  -Wl,-rpath,"$build/runtime/api" -lgc3

# mpirun starts processes on a host by this command, as by ssh: AGENT ADDRESS COMMAND...
agent="$out/hosts_agent"
cat >"$agent" <<EOF
#!/bin/sh
case \$1 in ${addresses[0]}) name=${namespaces[0]} ;; *) name=${namespaces[1]} ;; esac
shift
export GC3_HOSTID=\$name UCX_TLS=tcp
exec ${priority[*]} ip netns exec \$name unshare --uts sh -c "hostname \$name; \$*"
EOF
chmod +x "$agent"

against_mpi() { # RANKS-PER-HOST ARGUMENTS-OF-hosts_vs_mpi...
  local ranks=$1 yields=0
  shift
  if [ $((2 * ranks)) -gt "$(nproc)" ]; then yields=1; fi
  "$agent" "${addresses[0]}" mpirun --allow-run-as-root --bind-to none -n $((2 * ranks)) \
    --host "${addresses[0]}:$ranks,${addresses[1]}:$ranks" --mca plm_rsh_agent "$agent" \
    --mca oob_tcp_if_include $network --mca pml ob1 --mca btl tcp,vader,self --mca btl_tcp_if_include $network \
    --mca mpi_yield_when_idle $yields "$out/hosts_vs_mpi" "$out/hosts$ranks.gc3b" "$samples" "$@"
}

await_port() { until ip netns exec "${namespaces[1]}" ss -ltn | grep -q ":$1 "; do :; done; }

# Prints the GB/s of one sample of a one-way transfer of messages of $1 bytes.
gc3_speed() {
  local bytes=$1 calls=$2 port=$((20000 + RANDOM % 10000)) rank pids=()
  for rank in 1 0; do
    on $rank env RANK=$rank WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 MASTER_ADDR="${addresses[0]}" \
      MASTER_PORT=$port GC3_HOSTID=$rank UCX_TLS=tcp "$build/tools/gc3-run/gc3-run" "$out/hosts1.gc3b" \
      --collective broadcast -b "$bytes" -e "$bytes" -c 0 --inplace 1 -n "$calls" -w 2 >"$out/hosts_speed.$rank" &
    pids+=($!)
  done
  wait "${pids[@]}"
  awk '$1 == "'"$bytes"'" { print $(NF - 2) }' "$out/hosts_speed.0"
}
ucx_speed() {
  local bytes=$1 calls=$2 port=$((20000 + RANDOM % 10000)) server
  UCX_TLS=tcp on 1 ucx_perftest -p $port >/dev/null & server=$!
  await_port $port
  UCX_TLS=tcp on 0 ucx_perftest "${addresses[1]}" -p $port -t ucp_am_bw -s "$bytes" -n "$calls" -w 2 -f |
    awk '/Final|^ *[0-9]/ { speed = $(NF - 2) } END { printf "%.3f\n", speed * 1048576 / 1e9 }'
  wait $server
}
ucx_latency() { # BYTES; prints the microseconds in which a message reaches the other host
  local port=$((20000 + RANDOM % 10000)) server
  UCX_TLS=tcp on 1 ucx_perftest -p $port >/dev/null & server=$!
  await_port $port
  UCX_TLS=tcp on 0 ucx_perftest "${addresses[1]}" -p $port -t ucp_am_lat -s "$1" -n 20000 -w 1000 -f |
    awk '/Final|^ *[0-9]/ { time = $(NF - 4) } END { print time }'
  wait $server
}
iperf_speed() {
  local bytes=$1 calls=$2 server
  on 1 iperf3 -s -1 >/dev/null & server=$!
  await_port 5201
  on 0 iperf3 -c "${addresses[1]}" -n $((bytes * calls)) -l 128K --json |
    awk '/"sum_received"/ { found = 1 } found && /bits_per_second/ { gsub(",", ""); printf "%.3f\n", $2 / 8e9; found = 0 }'
  wait $server
}
median() { sort -g | awk '{ value[NR] = $1 } END { print (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2 }'; }

throughput() {
  echo "one-way, GB/s:    bytes      gc3      UCX   iperf3  gc3/UCX gc3/iperf3"
  local bytes calls sample tool
  for bytes in $((1 << 20)) $((4 << 20)) $((16 << 20)) $((64 << 20)) $((256 << 20)); do
    calls=$(((1 << 30) / bytes))
    rm -f "$out"/hosts_samples.*
    for ((sample = 0; sample < samples; ++sample)); do
      for tool in gc3 ucx iperf; do ${tool}_speed "$bytes" $calls >>"$out/hosts_samples.$tool"; done
    done
    printf '%23d %8.3f %8.3f %8.3f\n' "$bytes" $(for tool in gc3 ucx iperf; do median <"$out/hosts_samples.$tool"; done) |
      awk '{ printf "%s %8.2f %8.2f\n", $0, $2 / $3, $2 / $4 }'
  done
}

header="collective         bytes       gc3, us      MPI, us  MPI/gc3  gc3, GB/s"
echo "two hosts on $(nproc) processors; $(ompi_info --version | head -n 1); UCX $(ucx_info -v | awk '/Version/ { print $3 }')"
if [ "${1:-all}" != throughput ] && [ "${1:-all}" != allreduce ]; then
  echo "1 rank on each host"
  echo "$header"
  against_mpi 1 8 65536 4 allreduce
  for bytes in 8 2048; do echo "UCX's own latency (ucp_am_lat) of $bytes bytes, us: $(ucx_latency $bytes)"; done
fi
if [ "${1:-all}" != throughput ] && [ "${1:-all}" != latency ]; then
  echo "2 ranks on each host"
  echo "$header"
  against_mpi 2 1024 $((64 << 20)) 4 allreduce
fi
if [ "${1:-all}" != allreduce ] && [ "${1:-all}" != latency ]; then throughput; fi
