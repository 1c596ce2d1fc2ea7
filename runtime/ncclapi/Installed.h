// SPDX-License-Identifier: Apache-2.0
// The installed NCCL. The first call searches for it, not the start of the process: a program that opens NCCL itself
// has done so by then, and gc3 must use the same copy. Thread-safe.
#pragma once

#include "ncclapi/Abi.h"

#include <string>

namespace gc3::ncclapi {

/// Returns the function `pnccl<name>`, else `nccl<name>`, of the installed library. Returns null and logs a line if
/// there is no library or it lacks the function. The library is, in this order: the libnccl.so.2 that is already
/// loaded, the file that GC3_NCCL_LIB names, the next library after gc3 in the program's list, the libnccl.so.2 that
/// the loader finds. Functions of gc3's own library are ignored.
void *installedFunction(const std::string &name);

/// Like installedFunction(), but logs nothing if the library lacks the function.
void *findInstalled(const std::string &name);

/// Like installedFunction(), but caches the address: later calls cost one load.
void *installedFunction(Function function);

/// Returns whether this thread is inside a call of the installed library. Some NCCL functions call others by their
/// exported names, and so reach gc3's functions.
bool isInsideNccl();

/// Marks its thread as inside a call of the installed library.
class NcclCallScope {
public:
  NcclCallScope();
  ~NcclCallScope();
  NcclCallScope(const NcclCallScope &) = delete;
  NcclCallScope &operator=(const NcclCallScope &) = delete;
};

/// Calls the installed library's function and returns its result. Returns InternalError if there is none.
template <Function F, typename... Args>
Result callInstalled(Args... args) {
  auto *function = reinterpret_cast<typename SignatureOf<F>::Type *>(installedFunction(F));
  if (!function)
    return Result::InternalError;
  NcclCallScope scope;
  return function(args...);
}

} // namespace gc3::ncclapi
