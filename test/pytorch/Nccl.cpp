// SPDX-License-Identifier: Apache-2.0
// The libnccl.so.2 of the emulated machine: its functions are trampolines (runtime/shim/front/Trampolines.S) to the
// fake NCCL. Collective calls that reach the fake NCCL move no data, so only gc3's programs move data. Logs each
// creation of a communicator that has a config.
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
    nccl.inBackground = true; // PyTorch waits for a child's handle, and does not query the parent meanwhile
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

/// Returns a function of the fake NCCL, in the application's version. Returns gc3's version for pncclCommSplit: only
/// the interposer calls this name, and only to create gc3's children.
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

/// Returns the target of the trampoline of `function`, and stores it in `slot`. Trampolines.S calls this at a
/// trampoline's first use.
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
