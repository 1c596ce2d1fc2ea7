// SPDX-License-Identifier: Apache-2.0
// The functions of the installed NCCL that ranks on several GPUs use, as a table: code above it compiles and is tested
// without NCCL. Contains no device code of NCCL.
#pragma once

#include "core/Request.h"
#include "ncclapi/Abi.h"

namespace gc3::ncclapi {

/// 2.28.7 is the first version of NCCL with the window layout that Window.cpp reads. From 2.29.2 on NCCL has a function
/// that returns addresses.
inline constexpr int oldestVersion = 22807, devicePointerVersion = 22902;

struct Nccl {
  int version = 0;
  // NOLINTBEGIN(readability-identifier-naming): as NCCL calls them
#define GC3_LSA_FUNCTION(name) signature::name *name = nullptr;
  GC3_NCCL_FOR_WINDOWS(GC3_LSA_FUNCTION)
#undef GC3_LSA_FUNCTION
  signature::TeamLsa *TeamLsa = nullptr;
  signature::GetLsaDevicePointer *GetLsaDevicePointer = nullptr; ///< null before devicePointerVersion
  signature::DevCommCreate *DevCommCreate = nullptr;             ///< this and the next function are for the GIN plugin
  signature::DevCommDestroy *DevCommDestroy = nullptr;
  // NOLINTEND(readability-identifier-naming)

  /// Sets the table. `function` returns the function with a name (without `nccl`), or null. Returns gc3InvalidUsage if
  /// NCCL is too old or there is none.
  static core::Outcome find(void *(*function)(const std::string &name), Nccl &nccl);
};

/// Returns the C API's code, with the text `doing` and NCCL's code. gc3InProgress means that the communicator is
/// non-blocking, so NCCL continues the operation by itself.
core::Outcome outcomeOf(Result result, const std::string &doing);

/// Returns NCCL's code for an outcome, for callers of NCCL's functions.
Result resultOf(const core::Outcome &outcome);

} // namespace gc3::ncclapi
