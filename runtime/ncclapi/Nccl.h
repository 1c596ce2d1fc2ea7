// SPDX-License-Identifier: Apache-2.0
// What ranks on several GPUs use of the installed NCCL, as a table of functions: the code above it compiles, and is
// tested, without NCCL. None of its device code is used.
#pragma once

#include "core/Request.h"
#include "ncclapi/Abi.h"

namespace gc3::ncclapi {

/// NCCL 2.28.7 is the first whose windows are as Window.cpp reads them; from 2.29.2 on NCCL itself tells addresses.
inline constexpr int oldestVersion = 22807, tellingVersion = 22902;

struct Nccl {
  int version = 0;
  // NOLINTBEGIN(readability-identifier-naming): as NCCL calls them
#define GC3_LSA_FUNCTION(name) signature::name *name = nullptr;
  GC3_NCCL_FOR_WINDOWS(GC3_LSA_FUNCTION)
#undef GC3_LSA_FUNCTION
  signature::TeamLsa *TeamLsa = nullptr;
  signature::GetLsaDevicePointer *GetLsaDevicePointer = nullptr; ///< null before tellingVersion
  signature::DevCommCreate *DevCommCreate = nullptr;             ///< for the GIN plugin, as the next
  signature::DevCommDestroy *DevCommDestroy = nullptr;
  // NOLINTEND(readability-identifier-naming)

  /// From what finds a function by its name without `nccl`, or gives null. gc3InvalidUsage: it is too old, or no NCCL.
  static core::Outcome find(void *(*function)(const std::string &name), Nccl &nccl);
};

/// The code of the C API, with what was being done and NCCL's number. gc3InProgress: the communicator does not block,
/// so NCCL goes on by itself.
core::Outcome outcomeOf(Result result, const std::string &doing);

/// NCCL's code for an outcome, for callers of NCCL's functions.
Result resultOf(const core::Outcome &outcome);

} // namespace gc3::ncclapi
