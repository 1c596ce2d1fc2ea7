// SPDX-License-Identifier: Apache-2.0
// Finds the functions to which Trampolines.S jumps.
#include "ncclapi/Installed.h"

#include <atomic>

using namespace gc3::ncclapi;

namespace {

/// Runs instead of a function that the installed NCCL lacks. installedFunction() has logged that function.
Result missing() {
  return Result::InternalError;
}
const char *missingText() {
  return "gc3: the installed NCCL has not been found, or lacks ncclGetErrorString";
}

} // namespace

/// Returns the address of `function` (nccl… or pnccl…) in the installed library, and stores it in `slot`. If the
/// function is missing, returns a function that returns an error, and does not change `slot`, so the next call looks
/// again. Called by Trampolines.S.
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
