// SPDX-License-Identifier: Apache-2.0
// What ranks tell each other before they run programs together, and what follows from it: all of them work it out from
// the same records, so they come to the same.
#pragma once

#include "cuda/Options.h"

#include <array>
#include <span>
#include <string>

namespace gc3::lsa {

/// Some of the ranks whose memory a rank reaches, by their distance from the first of these.
class PeerSet {
public:
  /// Those at a greater distance are never in it.
  static constexpr uint32_t most = 1024;
  void add(uint32_t peer) {
    if (peer < most)
      bits[peer / 64] |= uint64_t{1} << peer % 64;
  }
  bool has(uint32_t peer) const { return peer < most && (bits[peer / 64] >> peer % 64 & 1) != 0; }

private:
  std::array<uint64_t, most / 64> bits{};
};

/// One rank's. Crosses processes as it is, between ranks of one version.
struct Record {
  uint32_t able = 1;                                       ///< 0: this rank can't run programs, whatever the others say
  uint64_t bundles = 0;                                    ///< digest of all of them
  uint64_t programs = 0;                                   ///< digest of GC3_PROGRAM
  std::array<uint64_t, kernel::protocolCount> slotBytes{}; ///< options, alike on all ranks; these by protocol
  std::array<uint32_t, kernel::protocolCount> slots{};
  uint32_t simple = 0, strictLL128 = 0, timeout = 0, allowUnproven = 0;
  uint32_t tuner = 0;                                 ///< whether there is one
  uint32_t architecture = 0;                          ///< of the GPU: 90 is sm_90
  std::array<uint32_t, kernel::protocolCount> room{}; ///< thread blocks that the GPU can hold, by protocol
  uint32_t networkRoom = 0;                           ///< those whose messages may go over the network
  int32_t nccl = 0, gin = 0;          ///< the version of NCCL, and that of libgc3gin.so; 0: not there, or not needed
  int32_t firstPeer = 0, peerEnd = 0; ///< the ranks whose memory it reaches, itself included
  uint32_t contexts = unknown;        ///< of the network, 0 if it could not be had; found out behind the others
  char busId[16] = {};                ///< of the GPU, ends with a zero
  uint64_t host = 0;                  ///< of the machine; 0: not known
  uint64_t joined = 0;                ///< when, by the machine's wall clock
  uint64_t nonce = 0;                 ///< nobody else's; that of rank 0 names the communicator
  PeerSet wholeLines{}; ///< on the way to whom lines stay whole, as LL128 needs it; found out behind the others

  static constexpr uint32_t unknown = UINT32_MAX;
  void set(const cuda::Options &options);
};

/// What comes before a record, of this size in every version: records of different sizes can't be gathered.
struct Greeting {
  int32_t version = GC3_VERSION;
  uint32_t layout = 5; ///< of records, and of what ranks write into each other's memory
  uint32_t recordBytes = sizeof(Record);
  uint32_t unused = 0;
};
static_assert(sizeof(Greeting) == 16);

/// Why ranks can't even exchange records: the first whose version is not that of rank 0; empty if there is none.
std::string otherVersion(std::span<const Greeting> ranks);

/// Why ranks can't run programs together: the first that differs from rank 0, or is not able; empty if none.
std::string disagreement(std::span<const Record> ranks);

/// What a program runs under.
kernel::Protocol protocolOf(const core::Program &program, std::span<const Record> ranks);

/// The first two ranks that a program connects and that do not reach each other's memory, in words; empty if there are
/// none. Messages between such ranks go over the network.
std::string apart(const core::Program &program, std::span<const Record> ranks);

/// Why no messages can go over the network; empty if they can, as far as is known.
std::string whyNoNetwork(std::span<const Record> ranks);

/// Why a program can't run on these ranks, room on their GPUs aside (lsa/SharedRoom.h); empty if it can.
std::string whyNot(const core::Program &program, std::span<const Record> ranks);

/// Whether two ranks are on one GPU, as far as is known.
bool shareGpu(const Record &a, const Record &b);

/// The oldest GPU of all.
uint32_t oldestArchitecture(std::span<const Record> ranks);

} // namespace gc3::lsa
