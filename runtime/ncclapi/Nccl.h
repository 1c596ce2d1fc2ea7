// SPDX-License-Identifier: Apache-2.0
// A table of those functions of the installed NCCL that ranks on several GPUs use. Code that calls NCCL through the
// table compiles without NCCL, and tests pass a table of fake functions. Contains no device code of NCCL.
#pragma once

#include "core/Request.h"
#include "ncclapi/Abi.h"

namespace gc3::ncclapi {

/// 2.28.7 is the first version of NCCL with the window layout that Window.cpp reads. From 2.29.2 on, NCCL has a
/// function that returns the addresses of peers' memory.
inline constexpr int oldestVersion = 22807, devicePointerVersion = 22902;

struct Nccl {
  int version = 0;
  // NOLINTBEGIN(readability-identifier-naming): as NCCL calls them
#define GC3_LSA_FUNCTION(name) signature::name *name = nullptr;
  GC3_NCCL_FOR_WINDOWS(GC3_LSA_FUNCTION)
#undef GC3_LSA_FUNCTION
  signature::TeamLsa *TeamLsa = nullptr;
  signature::GetLsaDevicePointer *GetLsaDevicePointer = nullptr;                 ///< null before devicePointerVersion
  signature::GetLsaMultimemDevicePointer *GetLsaMultimemDevicePointer = nullptr; ///< null before devicePointerVersion
  signature::DevCommCreate *DevCommCreate = nullptr; ///< this function and the next are for the GIN plugin
  signature::DevCommDestroy *DevCommDestroy = nullptr;
  // NOLINTEND(readability-identifier-naming)

  /// Fills the table `nccl`. `function` must return the NCCL function with the given name (without the prefix `nccl`),
  /// or null. Returns gc3InvalidUsage if NCCL is not found, is older than oldestVersion, or lacks a function.
  static core::Outcome find(void *(*function)(const std::string &name), Nccl &nccl);
};

/// Converts an NCCL result to an outcome of the C API. Its text is `doing` and NCCL's code. gc3InProgress means that
/// the communicator is non-blocking: NCCL continues the operation by itself.
core::Outcome outcomeOf(Result result, const std::string &doing);

/// Converts an outcome to an NCCL result, for applications that call NCCL's functions.
Result resultOf(const core::Outcome &outcome);

} // namespace gc3::ncclapi
