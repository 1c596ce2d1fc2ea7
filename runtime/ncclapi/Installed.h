// SPDX-License-Identifier: Apache-2.0
// The installed NCCL. It is looked for when the first call comes, not when we are loaded: a program that opens it by
// itself has done so by then, and we must find the copy that it uses. Any number of threads may call.
#pragma once

#include "ncclapi/Abi.h"

#include <string>

namespace gc3::ncclapi {

/// The function `pnccl<name>`, else `nccl<name>`, of the installed library; null, and told once, where there is no
/// library or it has no such function. Found in this order: the libnccl.so.2 that is loaded already, the file that
/// GC3_NCCL_LIB names, what follows us among the program's libraries, the libnccl.so.2 that the loader finds. Functions
/// of this library itself never count.
void *installedFunction(const std::string &name);

/// As installedFunction, but that the library lacks it is the caller's to tell.
void *findInstalled(const std::string &name);

/// As installedFunction, at the cost of one load from the second time on.
void *installedFunction(Function function);

/// True while this thread is inside the installed library or an engine: some of NCCL's functions call others by their
/// exported names, and so come back to us.
bool isInside();

/// Marks this thread as inside for as long as it lives.
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
