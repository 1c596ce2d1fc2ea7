// SPDX-License-Identifier: Apache-2.0
// The interface of libgc3gin.so, which connects ranks of different LSA teams over NCCL's GIN. It contains interpreter
// kernels that use GIN, and creates the device communicators that they need. It is a separate shared object because
// NCCL's device code works only with the version of NCCL that it was compiled with. A caller must compare the versions
// before it calls a function.
#pragma once

#include "cuda/Cuda.h"
#include "ncclapi/Abi.h"

#include <string>

namespace gc3::gin {

/// GIN's signal ids have 16 bits.
inline constexpr uint32_t mostSignals = 1 << 16;

struct Plugin {
  uint32_t gc3; ///< GC3_VERSION; must be equal, because the kernels read data that gc3 writes
  int nccl;     ///< NCCL_VERSION_CODE

  size_t commBytes; ///< size of a device communicator; kernel::RankImage::network points to a copy of one
  /// Create and destroy a device communicator with `signals` signals. If `signals` is 0, it has no GIN, and serves
  /// ranks that can access each other's memory. Both call NCCL's `function`, which the caller provides. In an open NCCL
  /// group `deviceComm` is written when the group ends.
  ncclapi::Result (*create)(ncclapi::signature::DevCommCreate *function, ncclapi::Comm comm, uint32_t signals,
                            void *deviceComm);
  ncclapi::Result (*destroy)(ncclapi::signature::DevCommDestroy *function, ncclapi::Comm comm, const void *deviceComm);
  uint32_t (*contexts)(const void *deviceComm);

  cuda::Interpreters interpreters; ///< Simple only
};

/// The only exported function.
inline constexpr const char *entryName = "gc3GinPlugin";
using Entry = const Plugin *();

/// Opens a file, and never closes it, because CUDA refers to its kernels. Returns null and sets `why` if the file
/// cannot be opened or has another version of gc3.
const Plugin *open(const std::string &path, std::string &why);

/// Returns the path of libgc3gin.so in `folder` (with a trailing slash) or in its subfolder gc3/, where it is
/// installed. If it is in neither, returns only the file name, for the loader to find.
std::string pathNear(const std::string &folder);

/// Opens the file that GC3_GIN_LIB names, or without that variable the one near this library; once per process. Returns
/// null if that fails, and logs why if GC3_DEBUG enables it. Thread-safe.
const Plugin *find();

} // namespace gc3::gin
