// SPDX-License-Identifier: Apache-2.0
// Memory of which every rank has a part of the same size, as one of NCCL's symmetric windows: each rank reaches the
// parts of all ranks of its LSA team.
#pragma once

#include "cuda/Cuda.h"
#include "ncclapi/Nccl.h"

#include <vector>

namespace gc3::comm {

class Window {
public:
  Window() = default;
  Window(const cuda::Cuda &cuda, const ncclapi::Nccl &nccl, ncclapi::Comm comm)
      : cuda(&cuda), nccl(&nccl), comm(comm) {}
  Window(Window &&other) noexcept;
  Window &operator=(Window &&other) noexcept;
  ~Window(); ///< no kernel uses the window

  /// Allocates this rank's part and clears it; the stream is idle afterwards.
  core::Outcome reserve(uint64_t bytes, cuda::Stream stream);
  /// Registers the part. All ranks of the communicator do so together.
  ncclapi::Result registerPart();
  /// After registration: false if the communicator has no windows, which is the same on all ranks.
  core::Result<bool> isWindow() const;
  /// Deregisters the part, so that it can be registered with another communicator, of the LSA team's ranks.
  void moveTo(ncclapi::Comm another);
  /// The addresses of the parts of the LSA team's `count` ranks, as NCCL has them. gc3InvalidUsage: the communicator
  /// has no windows.
  core::Result<std::vector<std::byte *>> locate(int count, cuda::Stream stream) const;
  /// The same, with the address at which it was allocated for this rank's part, whose rank in the team is `own`.
  core::Result<std::vector<std::byte *>> resolve(int own, int count, cuda::Stream stream) const;

  /// The window as device code knows it.
  const void *get() const { return handle; }

  /// NCCL frees its part with the communicator; the memory is still this object's.
  void forget() { handle = nullptr; }

private:
  core::Result<std::byte *> peerPart(int rank) const;

  const cuda::Cuda *cuda = nullptr;
  const ncclapi::Nccl *nccl = nullptr;
  ncclapi::Comm comm = nullptr;
  uint64_t size = 0;
  void *memory = nullptr;
  ncclapi::Window handle = nullptr;
};

} // namespace gc3::comm
