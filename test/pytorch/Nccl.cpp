// SPDX-License-Identifier: Apache-2.0
// A libnccl.so.2 of the machine: NCCL's functions as jumps (runtime/shim/front/Trampolines.S) to the fake NCCL. The
// application's collective calls do nothing there, so programs have to run them. What creates a communicator with a
// config is a line on stderr.
#include "Machine.h"

#include "FakeNccl.h"

#include <atomic>
#include <cstdio>

using namespace gc3;
using namespace gc3::ncclapi;
using namespace gc3::test;

namespace {

struct Machine {
  Machine() {
    cuda.waits = true;
    nccl.inBackground = true; // PyTorch waits for the handle of a child, and queries nothing meanwhile
    nccl.onEvent = [](const std::string &event) {
      if (event.find("config") != std::string::npos)
        std::fprintf(stderr, "machine: %s\n", event.c_str());
    };
  }
  FakeCuda cuda;
  FakeNccl nccl{cuda};
};

Result getUniqueId(UniqueId *id) {
  static std::atomic<int> ids = 0;
  *id = {};
  std::snprintf(id->bytes, sizeof id->bytes, "%d", ++ids);
  return Result::Success;
}

const char *getErrorString(Result) {
  return "an error of the emulated machine";
}

const char *getLastError(Comm) {
  return "";
}

Result missing() {
  return Result::InternalError;
}

/// Only the library in front calls pncclCommSplit, and only for gc3's children.
void *find(const std::string &function) {
  if (function == "pncclCommSplit")
    return FakeNccl::function("CommSplit");
  const std::string name = function.substr(4);
  if (name == "GetUniqueId")
    return reinterpret_cast<void *>(getUniqueId);
  if (name == "GetErrorString")
    return reinterpret_cast<void *>(getErrorString);
  if (name == "GetLastError")
    return reinterpret_cast<void *>(getLastError);
  return FakeNccl::applicationFunction(name);
}

} // namespace

FakeCuda &gc3::test::machine() {
  static auto *made = new Machine;
  return made->cuda;
}

const cuda::Cuda &gc3::test::machineCuda() {
  machine();
  return FakeCuda::table();
}

/// Returns where the jump of `function` goes, and keeps it in `slot`. Called by Trampolines.S.
extern "C" __attribute__((visibility("hidden"))) void *gc3NcclResolve(const char *function, void **slot) {
  machine();
  void *found = find(function);
  if (!found) {
    std::fprintf(stderr, "machine: there is no %s\n", function);
    found = reinterpret_cast<void *>(missing);
  }
  std::atomic_ref(*slot).store(found);
  return found;
}
