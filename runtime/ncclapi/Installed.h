// SPDX-License-Identifier: Apache-2.0
// The installed NCCL. The first call finds it: by then a program that opens NCCL by itself has done so, and gc3 must
// use the same copy. Thread-safe.
#pragma once

#include "ncclapi/Abi.h"

#include <string>

namespace gc3::ncclapi {

/// The function `pnccl<name>`, else `nccl<name>`, of the installed library; null, with a line in the log, if there is
/// no library or it has no such function. The library is, in this order: the libnccl.so.2 that is loaded already, the
/// file that GC3_NCCL_LIB names, what follows gc3 among the program's libraries, the libnccl.so.2 that the loader
/// finds. Functions of gc3's library itself never count.
void *installedFunction(const std::string &name);

/// Like installedFunction(), but logs nothing if the library lacks the function.
void *findInstalled(const std::string &name);

/// Like installedFunction(), and keeps the address: later calls cost one load.
void *installedFunction(Function function);

/// True while this thread is inside a call of the installed library. Some of NCCL's functions call others by their
/// exported names, and so reach gc3's.
bool isInside();

/// While it lives, its thread is inside.
class Inside {
public:
  Inside();
  ~Inside();
  Inside(const Inside &) = delete;
  Inside &operator=(const Inside &) = delete;
};

/// The installed library's function, with its result; InternalError where there is none.
template <Function F, typename... Args>
Result callInstalled(Args... args) {
  auto *function = reinterpret_cast<typename SignatureOf<F>::Type *>(installedFunction(F));
  if (!function)
    return Result::InternalError;
  Inside inside;
  return function(args...);
}

} // namespace gc3::ncclapi
