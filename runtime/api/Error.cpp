// SPDX-License-Identifier: Apache-2.0
// Result codes and their texts. Each communicator and each thread has its own last error, so that concurrent ranks do
// not overwrite each other's errors.
#include "api/Handles.h"

namespace gc3::api {

static thread_local std::string threadError;

gc3Result_t report(gc3Comm *comm, const core::Outcome &outcome) {
  if (outcome.ok())
    return gc3Success;
  return report(comm, outcome.code, outcome.text.c_str());
}

gc3Result_t report(gc3Comm *comm, gc3Result_t code, const char *text) {
  try {
    threadError = text;
    if (comm) {
      std::lock_guard lock(comm->errorMutex);
      comm->lastError = text;
    }
  } catch (const std::bad_alloc &) {
    threadError.clear();
  }
  return code;
}

} // namespace gc3::api

extern "C" gc3Result_t gc3GetVersion(int *version) {
  if (!version)
    return gc3::api::report(nullptr, gc3InvalidArgument, "version is null");
  *version = GC3_VERSION;
  return gc3Success;
}

extern "C" const char *gc3GetErrorString(gc3Result_t result) {
  switch (result) {
  case gc3Success: return "no error";
  case gc3UnhandledCudaError: return "a CUDA call failed";
  case gc3SystemError: return "the operating system refused a request";
  case gc3InternalError: return "internal error of gc3";
  case gc3InvalidArgument: return "invalid argument";
  case gc3InvalidUsage: return "invalid usage: calls out of order or different on the ranks";
  case gc3RemoteError: return "another rank has ended, left or failed";
  case gc3InProgress: return "in progress";
  case gc3Timeout: return "a rank did not make the call, or a kernel did not end, in time";
  case gc3Deadlock: return "the program is in a deadlock";
  case gc3NoProgram: return "the bundle has no program for the call";
  case gc3NotABundle: return "not a gc3 bundle";
  case gc3BundleTruncated: return "the bundle is truncated";
  case gc3BundleTooNew: return "the bundle is for a newer gc3";
  case gc3BundleCorrupt: return "the bundle is corrupt";
  case gc3BundleInvalid: return "the bundle is invalid";
  case gc3BundleUnproven: return "a program of the bundle is not proven";
  }
  return "unknown result code";
}

extern "C" const char *gc3GetLastError(gc3Comm_t comm) {
  if (!comm)
    return gc3::api::threadError.c_str();
  static thread_local std::string lastText; // a copy, because a call on another thread can change lastError now
  try {
    std::lock_guard lock(comm->errorMutex);
    lastText = comm->lastError;
  } catch (const std::bad_alloc &) {
    lastText.clear();
  }
  return lastText.c_str();
}
