// SPDX-License-Identifier: Apache-2.0
// A piece of memory of which every rank has a part as large, and reaches that of each rank of its LSA team: one of
// NCCL's symmetric windows.
#pragma once

#include "cuda/Cuda.h"
#include "ncclapi/Nccl.h"

#include <vector>

namespace gc3::lsa {

class Window {
public:
  Window() = default;
  Window(const cuda::Cuda &cuda, const ncclapi::Nccl &nccl, ncclapi::Comm comm)
      : cuda(&cuda), nccl(&nccl), comm(comm) {}
  Window(Window &&other) noexcept;
  Window &operator=(Window &&other) noexcept;
  ~Window(); ///< on the device; nothing uses the window any more

  /// Takes this rank's part and clears it; the stream is idle after that.
  core::Outcome reserve(uint64_t bytes, cuda::Stream stream);
  /// All ranks do so together; in an open group of NCCL's that is when the group ends.
  core::Outcome enroll();
  /// Once enrolled; false: the communicator has no windows. Alike on all ranks, errors aside.
  core::Outcome isWindow(bool &real) const;
  /// To enroll it again, in another communicator, of all ranks of this one's LSA team.
  void leave(ncclapi::Comm forAnother);
  /// Where NCCL says that the parts of the LSA team's `count` ranks lie, this one's too. gc3InvalidUsage: the
  /// communicator has no windows.
  core::Outcome locate(int count, cuda::Stream stream, std::vector<std::byte *> &parts) const;
  /// Where the parts of the LSA team's `count` ranks lie, this one's own, number `own`, where it was reserved.
  /// gc3InvalidUsage: the communicator has no windows.
  core::Outcome resolve(int own, int count, cuda::Stream stream, std::vector<std::byte *> &parts);

  /// As device code knows it.
  const void *get() const { return handle; }

  /// NCCL may have freed the communicator: nothing of it is touched from here on, and the memory stays taken.
  void abandon() { memory = nullptr, handle = nullptr; }

private:
  core::Outcome ask(int rank, std::byte *&part) const;

  const cuda::Cuda *cuda = nullptr;
  const ncclapi::Nccl *nccl = nullptr;
  ncclapi::Comm comm = nullptr;
  uint64_t size = 0;
  void *memory = nullptr;
  ncclapi::Window handle = nullptr;
};

} // namespace gc3::lsa
