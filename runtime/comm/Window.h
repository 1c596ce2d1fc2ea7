// SPDX-License-Identifier: Apache-2.0
// An NCCL symmetric window. Every rank has a part of the same size, and reaches the parts of all ranks of its LSA team.
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
  ~Window(); ///< no kernel may use the window

  /// Allocates and clears this rank's part. The stream is idle afterwards.
  core::Outcome reserve(uint64_t bytes, cuda::Stream stream);
  /// Registers the part. All ranks of the communicator make this call together.
  ncclapi::Result registerPart();
  /// Returns false if the communicator has no windows; identical on all ranks. Call after registration.
  core::Result<bool> isWindow() const;
  /// Deregisters the part. The next registration uses `another`, a communicator of the LSA team's ranks.
  void moveTo(ncclapi::Comm another);
  /// Returns NCCL's addresses of the parts of the LSA team's `count` ranks. Returns gc3InvalidUsage if the communicator
  /// has no windows.
  core::Result<std::vector<std::byte *>> locate(int count, cuda::Stream stream) const;
  /// Like locate(), but returns this rank's part at its allocated address. `own` is the rank in the team.
  core::Result<std::vector<std::byte *>> resolve(int own, int count, cuda::Stream stream) const;

  /// Returns the window's handle for device code.
  const void *get() const { return handle; }

  /// Drops the handle, which NCCL frees with the communicator. Keeps the memory.
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
