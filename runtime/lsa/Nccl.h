// SPDX-License-Identifier: Apache-2.0
// What ranks on several GPUs use of the installed NCCL, as a table of functions: the code above it compiles, and is
// tested, without NCCL. None of its device code is used.
#pragma once

#include "host/Request.h"
#include "nccl/Abi.h"

namespace gc3::lsa {

/// NCCL 2.28.7 is the first whose windows are as Window.cpp reads them; from 2.29.2 on NCCL itself tells addresses.
inline constexpr int oldestVersion = 22807, tellingVersion = 22902;

struct Nccl {
  int version = 0;
  // NOLINTBEGIN(readability-identifier-naming): as NCCL calls them
#define GC3_LSA_FUNCTION(name) nccl::signature::name *name = nullptr;
  GC3_NCCL_FOR_WINDOWS(GC3_LSA_FUNCTION)
#undef GC3_LSA_FUNCTION
  nccl::signature::TeamLsa *TeamLsa = nullptr;
  nccl::signature::GetLsaDevicePointer *GetLsaDevicePointer = nullptr; ///< null before tellingVersion
  nccl::signature::CommRevoke *CommRevoke = nullptr;                   ///< null where it has none
  nccl::signature::DevCommCreate *DevCommCreate = nullptr; ///< these two are for the part between nodes alone
  nccl::signature::DevCommDestroy *DevCommDestroy = nullptr;
  // NOLINTEND(readability-identifier-naming)

  /// From what finds a function by its name without `nccl`, or gives null. gc3InvalidUsage: it is too old, or no NCCL.
  static host::Outcome find(void *(*function)(const std::string &name), Nccl &nccl);
};

/// The code of the C API, with what was being done and NCCL's number. gc3InProgress: the communicator does not block,
/// so NCCL goes on by itself.
host::Outcome outcomeOf(nccl::Result result, const std::string &doing);

} // namespace gc3::lsa
