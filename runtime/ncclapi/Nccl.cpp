// SPDX-License-Identifier: Apache-2.0
#include "ncclapi/Nccl.h"

namespace gc3::ncclapi {

using core::Outcome;

Outcome Nccl::find(void *(*function)(const std::string &name), Nccl &nccl) {
  const char *missing = nullptr;
  auto lookUp = [&](auto *&place, const char *name) {
    place = reinterpret_cast<std::remove_reference_t<decltype(place)>>(function(name));
    missing = place || missing ? missing : name;
  };
  lookUp(nccl.GetVersion, "GetVersion");
  if (!nccl.GetVersion || nccl.GetVersion(&nccl.version) != Result::Success)
    return {gc3InvalidUsage, "no NCCL found"};
  if (nccl.version < oldestVersion)
    return {gc3InvalidUsage, "the installed NCCL is version " + std::to_string(nccl.version) + "; " +
                                 std::to_string(oldestVersion) + " or later is required"};
#define GC3_LSA_LOOK_UP(name) lookUp(nccl.name, #name);
  GC3_NCCL_FOR_WINDOWS(GC3_LSA_LOOK_UP)
#undef GC3_LSA_LOOK_UP
  lookUp(nccl.TeamLsa, "TeamLsa");
  lookUp(nccl.DevCommCreate, "DevCommCreate");
  lookUp(nccl.DevCommDestroy, "DevCommDestroy");
  if (nccl.version >= devicePointerVersion) {
    lookUp(nccl.GetLsaDevicePointer, "GetLsaDevicePointer");
    lookUp(nccl.GetLsaMultimemDevicePointer, "GetLsaMultimemDevicePointer");
  }
  if (missing)
    return {gc3InvalidUsage, std::string("the installed NCCL has no nccl") + missing};
  return {};
}

/// Returns the gc3 code with the same meaning as an NCCL code, or gc3SystemError if there is none.
static gc3Result_t codeOf(Result result) {
  switch (result) {
  case Result::UnhandledCudaError: return gc3UnhandledCudaError;
  case Result::InvalidArgument: return gc3InvalidArgument;
  case Result::InvalidUsage: return gc3InvalidUsage;
  case Result::InProgress: return gc3InProgress;
  case Result::InternalError: return gc3InternalError;
  case Result::Success:
  case Result::SystemError:
  case Result::RemoteError: break;
  }
  return gc3SystemError;
}

Outcome outcomeOf(Result result, const std::string &doing) {
  if (result == Result::Success)
    return {};
  if (result == Result::InProgress)
    return {codeOf(result), doing + ": the NCCL communicator is non-blocking"};
  return {codeOf(result), doing + ": NCCL error " + std::to_string(static_cast<int>(result))};
}

/// Returns only codes that all supported versions of NCCL have, because a caller may not know newer codes.
Result resultOf(const Outcome &outcome) {
  switch (outcome.code) {
  case gc3Success: return Result::Success;
  case gc3UnhandledCudaError: return Result::UnhandledCudaError;
  case gc3SystemError: return Result::SystemError;
  case gc3InvalidArgument: return Result::InvalidArgument;
  case gc3InvalidUsage: return Result::InvalidUsage;
  case gc3Timeout: return Result::RemoteError;
  default: return Result::InternalError;
  }
}

} // namespace gc3::ncclapi
