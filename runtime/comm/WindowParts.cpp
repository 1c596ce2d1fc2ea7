// SPDX-License-Identifier: Apache-2.0
// NCCL before 2.29.2 has no function that returns the address of a peer's part. For these versions, this file computes
// the address from the window's first fields. NCCL's inlined device functions read the same fields, and their layout is
// the same in all versions from 2.28.7 on.
#include "comm/WindowParts.h"

#include <cstddef>

namespace gc3::comm {

using core::Outcome;
using cuda::outcomeOf;
using Parts = std::vector<std::byte *>;

namespace {

/// The first fields of a window in device memory.
struct WindowHead {
  uint64_t unused;
  std::byte *flatBase; ///< address of the part of the team's first rank
  int lsaRank, worldRank;
  uint32_t stride4G; ///< distance between the parts of consecutive ranks, in units of 4 GiB
  uint32_t rest;
};
static_assert(offsetof(WindowHead, flatBase) == 8 && offsetof(WindowHead, lsaRank) == 16 &&
              offsetof(WindowHead, stride4G) == 24 && sizeof(WindowHead) == 32);

core::Result<Parts> readParts(const cuda::Cuda &cuda, ncclapi::Window handle, const ncclapi::Team &team,
                              cuda::Stream stream) {
  WindowHead head{};
  Outcome outcome = outcomeOf(cuda, cuda.copy(&head, handle, sizeof head, stream), "reading a window");
  if (outcome.ok())
    outcome = outcomeOf(cuda, cuda.synchronize(stream), "reading a window");
  if (!outcome.ok())
    return outcome;
  if (head.lsaRank != team.rank)
    return Outcome{gc3InvalidUsage, "the window belongs to another LSA team"};
  Parts parts;
  for (int rank = 0; rank < team.ranks; ++rank)
    parts.push_back(head.flatBase + (static_cast<uint64_t>(head.stride4G) * static_cast<uint64_t>(rank) << 32));
  return parts;
}

core::Result<Parts> queryParts(const ncclapi::Nccl &nccl, ncclapi::Window handle, int ranks) {
  Parts parts;
  for (int rank = 0; rank < ranks; ++rank) {
    void *address = nullptr;
    if (Outcome outcome = outcomeOf(nccl.GetLsaDevicePointer(handle, 0, rank, &address), "querying a peer's address");
        !outcome.ok())
      return outcome;
    parts.push_back(static_cast<std::byte *>(address));
  }
  return parts;
}

} // namespace

core::Result<bool> isWindow(const cuda::Cuda &cuda, const ncclapi::Nccl &nccl, ncclapi::Window handle) {
  if (!handle || nccl.GetLsaDevicePointer)
    return handle != nullptr;
  bool isOnDevice = false;
  if (Outcome outcome = outcomeOf(cuda, cuda.isDeviceMemory(&isOnDevice, handle), "querying a window"); !outcome.ok())
    return outcome;
  return isOnDevice;
}

core::Result<Parts> locateParts(const cuda::Cuda &cuda, const ncclapi::Nccl &nccl, ncclapi::Window handle,
                                const ncclapi::Team &team, cuda::Stream stream) {
  const core::Result<bool> real = isWindow(cuda, nccl, handle);
  if (!real.ok())
    return real.outcome();
  if (!*real)
    return Outcome{gc3InvalidUsage, "this communicator has no symmetric windows"};
  return nccl.GetLsaDevicePointer ? queryParts(nccl, handle, team.ranks) : readParts(cuda, handle, team, stream);
}

} // namespace gc3::comm
