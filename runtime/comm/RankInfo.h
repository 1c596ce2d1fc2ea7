// SPDX-License-Identifier: Apache-2.0
// The data that ranks exchange before they run programs, and the decisions that each rank computes from it. All ranks
// have the same data, so their decisions are identical.
#pragma once

#include "core/ChoiceInfo.h"
#include "core/Wiring.h"
#include "cuda/Options.h"

#include <array>
#include <span>
#include <string>

namespace gc3::comm {

/// A set of peers of one rank. It can contain only ranks whose memory this rank reaches. A peer is numbered by its
/// distance from the first such rank (RankInfo::firstPeer).
class PeerSet {
public:
  /// Limit on peer numbers. add() ignores this number and all larger ones.
  static constexpr uint32_t capacity = 1024;
  void add(uint32_t peer) {
    if (peer < capacity)
      bits[peer / 64] |= uint64_t{1} << peer % 64;
  }
  bool has(uint32_t peer) const { return peer < capacity && (bits[peer / 64] >> peer % 64 & 1) != 0; }

private:
  std::array<uint64_t, capacity / 64> bits{};
};

/// Describes one rank (compare NCCL's ncclPeerInfo). Ranks exchange the raw bytes of this struct, so all of them must
/// have the same version of it (VersionHandshake).
struct RankInfo {
  uint32_t canRunPrograms = 1; ///< 0: this rank can't run programs
  uint64_t bundles = 0;        ///< digest of all bundles
  core::ChoiceInfo choice;
  std::array<uint64_t, kernel::protocolCount> slotBytes{};        ///< by protocol: the user's choice; 0: default
  std::array<uint32_t, kernel::protocolCount> slots{};            ///< by protocol: the user's choice; 0: default
  std::array<uint32_t, kernel::protocolCount> hasChosenThreads{}; ///< by protocol: 1: the user has chosen the threads
  uint32_t simple = 0, strictLL128 = 0, direct = 0, overSwitch = 0, timeout = 0, allowUnproven = 0;
  uint32_t architecture = 0;                                 ///< architecture of the GPU: 90 is sm_90
  std::array<uint32_t, kernel::protocolCount> blockLimits{}; ///< by protocol: thread blocks that fit on the GPU at once
  uint32_t networkBlockLimit = 0;                            ///< the same limit for kernels that use the network
  /// Versions of the installed NCCL, and of the NCCL that libgc3gin.so was built with. `gin` is 0 if there is no
  /// libgc3gin.so, or if this rank does not need it.
  int32_t nccl = 0, gin = 0;
  /// This rank reaches the memory of ranks firstPeer .. peerEnd - 1, which include itself.
  int32_t firstPeer = 0, peerEnd = 0;
  /// Number of GIN contexts; 0: this rank could not create any. Ranks gather this field after the others.
  uint32_t contexts = unknown;
  char busId[16] = {}; ///< bus id of the GPU, null-terminated
  uint64_t host = 0;   ///< number that identifies the machine; 0: unknown
  /// A random number that identifies the process, and the address of the rank's ChildCommunicator in that process.
  uint64_t process = 0, object = 0;
  uint64_t joined = 0; ///< when the rank joined, in nanoseconds of its machine's wall clock
  /// The peers to which the link does not tear LL128 lines. Ranks gather this field after the others.
  PeerSet untornPeers{};

  static constexpr uint32_t unknown = UINT32_MAX;
  void set(const cuda::Options &options);
};

/// Ranks gather this struct before RankInfo. Its size is the same in all versions of gc3, so ranks of different
/// versions can gather it.
struct VersionHandshake {
  int32_t version = GC3_VERSION;
  uint32_t layout = 12; ///< version of RankInfo's layout, and of the data that ranks write to each other's memory
  uint32_t infoBytes = sizeof(RankInfo);
  uint32_t unused = 0;
};
static_assert(sizeof(VersionHandshake) == 16);

/// Returns an error text about the first rank whose version or build of gc3 is not that of rank 0; empty if there is no
/// such rank.
std::string versionMismatch(std::span<const VersionHandshake> ranks);

/// Returns an error text about the first rank that can't run programs, or whose bundles or options are not those of
/// rank 0; empty if there is no such rank.
std::string disagreement(std::span<const RankInfo> ranks);

/// Returns the protocol under which a program runs on these ranks: its own, or Simple if the user or a link requires
/// it. Predictions have the same rule for links (gc3/Simulate/Carries.h).
kernel::Protocol protocolOf(const core::Program &program, std::span<const RankInfo> ranks);

/// Returns, as a text, the first two ranks that a program connects but that do not reach each other's memory; empty if
/// there are none. Messages between such ranks go over the network.
std::string unreachablePair(const core::Program &program, std::span<const RankInfo> ranks);

/// Returns why no message can use the network; empty if messages can use it.
std::string networkProblem(std::span<const RankInfo> ranks);

/// Returns why a program can't run on these ranks; empty if it can. Ignores occupancy limits (comm/OccupancyBudget.h).
std::string unsupportedReason(const core::Program &program, std::span<const RankInfo> ranks);

/// Returns true if both ranks are known to use the same GPU.
bool shareGpu(const RankInfo &a, const RankInfo &b);

/// Returns the wiring of the ranks. A node is an NVLink domain if ranks of several hosts reach each other's memory,
/// else a host. `stated` is the application's number of nodes; 0: it has stated none.
core::Wiring wiringOf(std::span<const RankInfo> ranks, uint64_t stated);

/// Returns the architecture of the oldest GPU.
uint32_t oldestArchitecture(std::span<const RankInfo> ranks);

} // namespace gc3::comm
