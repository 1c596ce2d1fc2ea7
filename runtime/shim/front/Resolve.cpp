// SPDX-License-Identifier: Apache-2.0
// Where the functions of Trampolines.S go.
#include "ncclapi/Installed.h"

#include <atomic>

using namespace gc3::ncclapi;

namespace {

/// In place of a function that does not exist; installedFunction has logged that.
Result missing() {
  return Result::InternalError;
}
const char *missingText() {
  return "gc3: the installed NCCL has not been found, or lacks ncclGetErrorString";
}

} // namespace

/// The address of `function` (nccl… or pnccl…) in the installed library, which `slot` then keeps; where it is missing,
/// of what returns an error, and the next call looks again. Called by Trampolines.S.
extern "C" __attribute__((visibility("hidden"))) void *gc3NcclResolve(const char *function, void **slot) {
  std::string name = function;
  name.erase(0, name.starts_with('p') ? 5 : 4);
  if (void *found = installedFunction(name)) {
    std::atomic_ref(*slot).store(found);
    return found;
  }
  bool isText = name == "GetErrorString" || name == "GetLastError";
  return isText ? reinterpret_cast<void *>(missingText) : reinterpret_cast<void *>(missing);
}
