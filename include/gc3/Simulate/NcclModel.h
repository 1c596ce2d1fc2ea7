// SPDX-License-Identifier: Apache-2.0
// The time that NCCL's own cost model expects for a collective on a topology. NCCL chooses algorithms by this model, so
// it stands for NCCL where no hardware is at hand (docs/baselines.md).
#pragma once

#include "gc3/Topology/Topology.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gc3::simulate {

/// `SendRecv` is a group of ncclSend and ncclRecv, for which NCCL has no model of its own.
enum class NcclAlgorithm : uint8_t { Ring, Tree, Nvls, NvlsTree, SendRecv };
/// Returns "ring", "tree", "nvls", "nvls-tree" or "send-recv".
std::string_view name(NcclAlgorithm algorithm);

/// GPUs by the NVLink bandwidth of a GPU.
enum class GpuGeneration : uint8_t { Volta, Ampere, Hopper, Blackwell };

/// The channels that NCCL's search finds for a pattern, and the bandwidths of one of them in GB/s.
struct NcclGraph {
  uint32_t channels = 0; ///< 0: the pattern does not exist
  double inside = 0;     ///< in a machine
  double between = 0;    ///< over the network
};

/// A topology as NCCL sees it. All machines count as equal to the first one.
struct NcclSystem {
  uint32_t ranks = 0, machines = 0;
  uint32_t perMachine = 0; ///< ranks of a machine
  double port = 0;         ///< GB/s of the slowest GPU in one direction; at most NCCL's figure for its NVLinks
  double share = 0;        ///< GB/s of the slowest GPU if all send to all others, which share trunks; at most `port`
  uint32_t cards = 0;      ///< network cards of a machine
  double card = 0;         ///< GB/s of one
  bool hasNvLink = false, hasNvSwitch = false;
  GpuGeneration generation = GpuGeneration::Volta;
  NcclGraph rings, trees, nvls;
};

/// Returns NCCL's view of a topology. Linear in the links and in the ranks of switches.
NcclSystem findNcclSystem(const topology::Topology &topology);

/// One of NCCL's algorithms, under one of its protocols.
struct NcclChoice {
  double time = 0; ///< microseconds
  NcclAlgorithm algorithm = NcclAlgorithm::Ring;
  uint8_t protocol = 0; ///< index into topology::ProtocolNames
};

/// Returns the times of all algorithms and protocols that NCCL has for a collective, by its name in gc3's standard
/// library: "allreduce", "allgather", "reduce_scatter", "broadcast", "reduce" or "alltoall". `bytes` is the larger of
/// one rank's input and output. Returns nothing for other collectives, for fewer than two ranks, and if NCCL finds no
/// ring, because GPUs of a machine have no links or machines have no network cards. Constant time. Thread-safe.
std::vector<NcclChoice> listNccl(const NcclSystem &system, std::string_view collective, uint64_t bytes);

/// Returns the fastest that listNccl() returns, or nothing.
std::optional<NcclChoice> chooseNccl(const NcclSystem &system, std::string_view collective, uint64_t bytes);

} // namespace gc3::simulate
