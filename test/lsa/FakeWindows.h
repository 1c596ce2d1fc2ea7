// SPDX-License-Identifier: Apache-2.0
// The part of NCCL that ranks on several GPUs use, over the fake CUDA: communicators whose ranks all live in this
// process, gathers that wait on their streams until all ranks have come, and windows that show each rank's memory at a
// second address, a multiple of 4 GiB from the next rank's. Between LSA teams goes the emulated network, for kernels of
// a part() that stands for libgc3gin.so. Calls fail with those of the fake CUDA. One at a time.
#pragma once

#include "FakeCuda.h"
#include "gin/Part.h"
#include "ncclapi/Nccl.h"

#include <memory>

namespace gc3::test {

class FakeWindows {
public:
  explicit FakeWindows(FakeCuda &cuda);
  ~FakeWindows();
  FakeWindows(const FakeWindows &) = delete;
  FakeWindows &operator=(const FakeWindows &) = delete;

  ncclapi::Nccl table() const;
  /// By its name without `nccl`, as the dynamic loader has it; null: there is none.
  static void *function(const std::string &name);
  /// For this version of NCCL.
  static const gin::Part *part();
  /// What a failing call returns.
  static constexpr ncclapi::Result failure = ncclapi::Result::SystemError;

  // What tests set:
  int version = 22809;
  enum class Windows : uint8_t {
    Real,
    Null,    ///< there are none, as NCCL 2.29 says it
    Other,   ///< there are none, as NCCL 2.28 says it
    OneTeam, ///< real where all ranks are of one team, else null
  } windows = Windows::Real;
  int ranksPerGpu = 1;              ///< neighbours share one
  int teamSize = 0;                 ///< ranks of an LSA team; 0, or more than there are: all
  int teamStride = 1;               ///< from one rank of a team to the next; teams lie within each other then
  bool blocks = true;               ///< else groups are in progress when they end
  bool hasPart = true;              ///< between teams
  int partFor = 22809;              ///< version of NCCL
  std::map<int, uint32_t> contexts; ///< of the network by rank, where they are not 4

  /// A communicator's ranks, on devices 0, 1, ...
  std::vector<ncclapi::Comm> make(int ranks);
  /// As when it has been freed: no call may name it any more.
  void free(ncclapi::Comm comm);

  // What they look at:
  uint64_t used = 0;          ///< calls that name a communicator
  uint64_t gathersBegun = 0;  ///< which hold the GPU from there on
  uint64_t registrations = 0; ///< begun, on all ranks
  uint64_t windowsMade = 0;   ///< likewise
  uint64_t networksMade = 0;
  uint64_t partCalls = 0; ///< into the part
  uint64_t splits = 0;    ///< communicators made by splitting, counted on all ranks
  uint64_t abortedSplits = 0;
  std::vector<ncclapi::Comm> revoked; ///< whose gathers end, and can do no more
  uint32_t signals() const;           ///< of a rank of the last communicator
  uint64_t leftBehind() const;
  uint64_t gaveBack() const; ///< times that slots were, over its network
  std::string leaks() const;
  bool isGroupOpen() const { return groupDepth > 0; }

  struct World;
  struct Member;

private:
  struct Functions;
  void makeChildren(World &world);

  FakeCuda &cuda;
  std::vector<std::unique_ptr<World>> worlds;
  std::vector<std::unique_ptr<Member>> members;
  struct Allocation {
    int file, device; ///< that it shows; that it is on
  };
  std::map<void *, Allocation> allocations;
  std::map<ncclapi::Window, void *> registered;
  std::map<ncclapi::Window, ncclapi::Comm> owners; ///< of all that there have been
  std::map<void *, size_t> sizes;
  std::vector<std::function<void()>> atGroupEnd;
  int groupDepth = 0;
  bool groupFails = false;
  std::set<const void *> networks;  ///< host copies of device communicators
  std::set<ncclapi::Comm> children; ///< made by splitting
};

} // namespace gc3::test
