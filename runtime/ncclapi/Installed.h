// SPDX-License-Identifier: Apache-2.0
// Finds the installed NCCL and calls its functions. The search happens at the first call, not at the start of the
// process. A program that opens NCCL itself has opened it by then, and gc3 must use the same copy. Thread-safe.
#pragma once

#include "ncclapi/Abi.h"

#include <string>

namespace gc3::ncclapi {

/// Returns the function `pnccl<name>` of the installed library or, if there is none, `nccl<name>`. Returns null and
/// logs a line if the library is not found or lacks the function. gc3 tries these libraries in this order: the
/// libnccl.so.2 that is already loaded, the file that GC3_NCCL_LIB names, the next library after gc3 in the loader's
/// search order, the libnccl.so.2 that the loader finds. Functions of gc3's own library are ignored.
void *installedFunction(const std::string &name);

/// Like installedFunction(), but logs nothing if the library lacks the function.
void *findInstalled(const std::string &name);

/// Like installedFunction() above, but caches the address: later calls cost one load.
void *installedFunction(Function function);

/// Returns whether this thread is inside a call of the installed library. Some NCCL functions call other NCCL functions
/// by their exported names. These calls reach gc3, which must forward them.
bool isInsideNccl();

/// Marks the current thread as inside a call of the installed library, as long as the object exists.
class NcclCallScope {
public:
  NcclCallScope();
  ~NcclCallScope();
  NcclCallScope(const NcclCallScope &) = delete;
  NcclCallScope &operator=(const NcclCallScope &) = delete;
};

/// Calls function `F` of the installed library and returns its result. Returns InternalError if the library does not
/// have it.
template <Function F, typename... Args>
Result callInstalled(Args... args) {
  auto *function = reinterpret_cast<typename SignatureOf<F>::Type *>(installedFunction(F));
  if (!function)
    return Result::InternalError;
  NcclCallScope scope;
  return function(args...);
}

} // namespace gc3::ncclapi
