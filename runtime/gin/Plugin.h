// SPDX-License-Identifier: Apache-2.0
// The interface of libgc3gin.so, which connects ranks of different LSA teams over NCCL's GIN. The library contains
// interpreter kernels that use GIN, and creates the device communicators that these kernels need. It is a separate
// shared object because NCCL's device code works only with the version of NCCL that it was compiled with. A caller must
// compare the versions before it calls a function of the plugin.
#pragma once

#include "cuda/Cuda.h"
#include "ncclapi/Abi.h"

#include <string>

namespace gc3::gin {

/// The largest number of signals: GIN's signal ids have 16 bits.
inline constexpr uint32_t mostSignals = 1 << 16;

struct Plugin {
  uint32_t gc3; ///< GC3_VERSION; must equal the caller's, because the kernels read data that the caller writes
  int nccl;     ///< NCCL_VERSION_CODE; must equal the version of the installed NCCL

  size_t commBytes; ///< size of a device communicator; kernel::BlockImage::network points to a copy of one
  /// Create and destroy a device communicator with `signals` signals. If `signals` is 0, the device communicator has no
  /// GIN, and works only for ranks that can access each other's memory. Both functions call NCCL's `function`, which
  /// the caller provides. If an NCCL group is open, NCCL writes `deviceComm` when the group ends.
  ncclapi::Result (*create)(ncclapi::signature::DevCommCreate *function, ncclapi::Comm comm, uint32_t signals,
                            void *deviceComm);
  ncclapi::Result (*destroy)(ncclapi::signature::DevCommDestroy *function, ncclapi::Comm comm, const void *deviceComm);
  uint32_t (*contexts)(const void *deviceComm);

  cuda::Interpreters interpreters; ///< only for the protocol Simple
};

/// The name of the only function that libgc3gin.so exports, and its type.
inline constexpr const char *entryName = "gc3GinPlugin";
using Entry = const Plugin *();

/// Opens the plugin at `path`. Never closes it, because CUDA refers to its kernels. Returns null and sets `why` if the
/// file cannot be opened, is not a plugin, or has another version of gc3.
const Plugin *open(const std::string &path, std::string &why);

/// Returns the path of libgc3gin.so in `folder` (with a trailing slash) or in its subfolder gc3/, where it is
/// installed. If it is in neither, returns only the file name, for the loader to find.
std::string pathNear(const std::string &folder);

/// Returns the plugin. The first call opens the file that GC3_GIN_LIB names. If this variable is not set, it opens the
/// file near this library (pathNear). Returns null if that fails, and logs the reason if GC3_DEBUG enables it.
/// Thread-safe.
const Plugin *find();

} // namespace gc3::gin
