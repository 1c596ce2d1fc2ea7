// SPDX-License-Identifier: Apache-2.0
// An NCCL symmetric window. Every rank has a part of the same size, and can access the parts of all ranks of its LSA
// team.
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
  /// Registers the part. All ranks of the communicator must make this call together.
  ncclapi::Result registerPart();
  /// Returns false if NCCL supports no windows on this communicator. The result is identical on all ranks. Call after
  /// registerPart().
  core::Result<bool> isWindow() const;
  /// Deregisters the part. The next registration uses `another`, a communicator of the ranks of the LSA team.
  void moveTo(ncclapi::Comm another);
  /// Returns the addresses to which NCCL has mapped the parts of the ranks of the LSA team (WindowParts.h).
  core::Result<std::vector<std::byte *>> locate(const ncclapi::Team &team, cuda::Stream stream) const;
  /// Like locate(), but uses the address from reserve() for this rank's part.
  core::Result<std::vector<std::byte *>> resolve(const ncclapi::Team &team, cuda::Stream stream) const;

  /// Returns the window's handle for device code.
  const void *get() const { return handle; }

  /// Drops the handle without deregistering it. Call after NCCL has freed the communicator and the handle. Keeps the
  /// memory.
  void forget() { handle = nullptr; }

private:
  const cuda::Cuda *cuda = nullptr;
  const ncclapi::Nccl *nccl = nullptr;
  ncclapi::Comm comm = nullptr;
  uint64_t size = 0;
  void *memory = nullptr;
  ncclapi::Window handle = nullptr;
};

} // namespace gc3::comm
