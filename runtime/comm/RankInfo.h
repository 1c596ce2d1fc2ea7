// SPDX-License-Identifier: Apache-2.0
// The data that ranks exchange before they run programs, and decisions that follow from it. All ranks compute the
// decisions from the same data, so the results are identical.
#pragma once

#include "cuda/Options.h"

#include <array>
#include <span>
#include <string>

namespace gc3::comm {

/// A subset of the ranks whose memory a rank reaches. Each element is the distance from the first such rank.
class PeerSet {
public:
  /// A rank at this distance or more is never in the set.
  static constexpr uint32_t capacity = 1024;
  void add(uint32_t peer) {
    if (peer < capacity)
      bits[peer / 64] |= uint64_t{1} << peer % 64;
  }
  bool has(uint32_t peer) const { return peer < capacity && (bits[peer / 64] >> peer % 64 & 1) != 0; }

private:
  std::array<uint64_t, capacity / 64> bits{};
};

/// Describes one rank (compare NCCL's ncclPeerInfo). Ranks of one version exchange the bytes between processes.
struct RankInfo {
  uint32_t canRunPrograms = 1;                             ///< 0: this rank can't run programs
  uint64_t bundles = 0;                                    ///< digest of all bundles
  uint64_t programs = 0;                                   ///< digest of GC3_PROGRAM
  std::array<uint64_t, kernel::protocolCount> slotBytes{}; ///< by protocol; the user's choice
  std::array<uint32_t, kernel::protocolCount> slots{};     ///< by protocol; the user's choice
  uint32_t simple = 0, strictLL128 = 0, timeout = 0, allowUnproven = 0;
  uint32_t tuner = 0;                                        ///< 1: the user has set a tuner
  uint32_t architecture = 0;                                 ///< architecture of the GPU: 90 is sm_90
  std::array<uint32_t, kernel::protocolCount> blockLimits{}; ///< thread blocks that the GPU can hold, by protocol
  uint32_t networkBlockLimit = 0;                            ///< limit for kernels that send over the network
  int32_t nccl = 0, gin = 0;          ///< versions of NCCL and of libgc3gin.so's NCCL; 0: none, or not needed
  int32_t firstPeer = 0, peerEnd = 0; ///< range of ranks whose memory this rank reaches, itself included
  uint32_t contexts = unknown;        ///< contexts of the network; 0: none; gathered after the rest
  char busId[16] = {};                ///< bus id of the GPU, null-terminated
  uint64_t host = 0;                  ///< identifies the machine; 0: not known
  uint64_t process = 0, object = 0;   ///< random; the address of the rank's child in the process
  uint64_t joined = 0;                ///< time of joining, in nanoseconds of the machine's wall clock
  PeerSet untornPeers{};              ///< peers whose link does not tear LL128 lines; gathered after the rest

  static constexpr uint32_t unknown = UINT32_MAX;
  void set(const cuda::Options &options);
};

/// Ranks gather this first. Its size never changes, so ranks of all versions can gather it.
struct VersionHandshake {
  int32_t version = GC3_VERSION;
  uint32_t layout = 8; ///< version of RankInfo, and of the data that ranks write to each other's memory
  uint32_t infoBytes = sizeof(RankInfo);
  uint32_t unused = 0;
};
static_assert(sizeof(VersionHandshake) == 16);

/// Names the first rank whose version differs from that of rank 0; empty if there is none.
std::string versionMismatch(std::span<const VersionHandshake> ranks);

/// Names the first rank that differs from rank 0, or can't run programs; empty if there is none.
std::string disagreement(std::span<const RankInfo> ranks);

/// Returns the protocol that a program runs under.
kernel::Protocol protocolOf(const core::Program &program, std::span<const RankInfo> ranks);

/// Names the first two ranks that a program connects and that do not reach each other's memory; empty if there are
/// none. Messages between such ranks go over the network.
std::string unreachablePair(const core::Program &program, std::span<const RankInfo> ranks);

/// Returns why no message can use the network; empty if messages can.
std::string networkProblem(std::span<const RankInfo> ranks);

/// Returns why a program can't run on these ranks; empty if it can. Ignores occupancy limits (comm/OccupancyBudget.h).
std::string unsupportedReason(const core::Program &program, std::span<const RankInfo> ranks);

/// Returns true if both ranks are known to use one GPU.
bool shareGpu(const RankInfo &a, const RankInfo &b);

/// Returns the architecture of the oldest GPU.
uint32_t oldestArchitecture(std::span<const RankInfo> ranks);

} // namespace gc3::comm
