// SPDX-License-Identifier: Apache-2.0
// Defines NCCL's functions for windows, which gc3 exports. NCCL registers all windows. gc3 records them, so that
// messages into them need no slots.
#include "ncclapi/Installed.h"
#include "shim/Exports.h"
#include "shim/Group.h"
#include "shim/Guarded.h"

using namespace gc3::shim;

extern "C" {

/// Also records a failed registration, because it can have succeeded on other ranks.
Result ncclCommWindowRegister(Comm comm, void *memory, size_t bytes, Window *window, int flags) {
  const Result result = callInstalled<Function::CommWindowRegister>(comm, memory, bytes, window, flags);
  if (isInsideNccl())
    return result;
  return guarded([&] {
    if (std::shared_ptr<Communicator> communicator = Interposer::ofProcess().findOrAdd(comm))
      Group::ofThisThread().addWindow({std::move(communicator), memory, bytes, window}, result);
    return result;
  });
}

Result ncclCommWindowDeregister(Comm comm, Window window) {
  if (isInsideNccl())
    return callInstalled<Function::CommWindowDeregister>(comm, window);
  return guarded([&] {
    if (const std::shared_ptr<Communicator> communicator = Interposer::ofProcess().find(comm))
      communicator->windows().remove(window);
    return callInstalled<Function::CommWindowDeregister>(comm, window);
  });
}

} // extern "C"
