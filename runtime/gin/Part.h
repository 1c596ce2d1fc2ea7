// SPDX-License-Identifier: Apache-2.0
// What the engine knows of libgc3gin.so, by which programs cross from one LSA team of NCCL's to another: kernels whose
// machine has NCCL's GIN for a network, and the device communicators that they need. It is a shared object of its own
// because NCCL's device code goes with one version of NCCL, that which it was compiled with. Whoever opens it looks at
// the versions first, and calls nothing of it where they differ.
#pragma once

#include "cuda/Cuda.h"
#include "ncclapi/Abi.h"

#include <string>

namespace gc3::gin {

/// GIN carries ids of signals in 16 bits.
inline constexpr uint32_t mostSignals = 1 << 16;

struct Part {
  uint32_t gc3; ///< GC3_VERSION: its kernels read what the engine writes
  int nccl;     ///< NCCL_VERSION_CODE

  size_t commBytes; ///< of a device communicator, which a kernel finds a copy of at kernel::RankImage::network
  /// With no signals it is one for ranks that reach each other's memory, without GIN. Both by NCCL's functions, which
  /// the engine finds. In an open group of NCCL's the communicator is filled in when the group ends.
  ncclapi::Result (*create)(ncclapi::signature::DevCommCreate *function, ncclapi::Comm comm, uint32_t signals,
                            void *deviceComm);
  ncclapi::Result (*destroy)(ncclapi::signature::DevCommDestroy *function, ncclapi::Comm comm, const void *deviceComm);
  uint32_t (*contexts)(const void *deviceComm);

  cuda::Interpreters interpreters; ///< for Simple alone
};

/// The one function that it exports.
inline constexpr const char *entryName = "gc3GinPart";
using Entry = const Part *();

/// Opens a file, which is never closed: CUDA knows its kernels. Null and why, if it is not there or not of this gc3.
const Part *open(const std::string &path, std::string &why);

/// libgc3gin.so in a folder (with a slash behind) or its gc3/, where it is installed; its name alone, for the loader to
/// find, if it is in neither.
std::string pathNear(const std::string &folder);

/// Opens the file that GC3_GIN_LIB names, or without that variable the one near this library; once in a process, and
/// tells why it can't where GC3_DEBUG informs. Thread-safe.
const Part *find();

} // namespace gc3::gin
