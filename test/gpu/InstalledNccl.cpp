// SPDX-License-Identifier: Apache-2.0
#include "InstalledNccl.h"

#include <dlfcn.h>

#include <cstdlib>

namespace gc3::test {

template <typename Function>
static bool found(const char *name, void *library, Function &function) {
  void *symbol = dlsym(RTLD_DEFAULT, name); // a library in front of NCCL comes first
  function = reinterpret_cast<Function>(symbol ? symbol : dlsym(library, name));
  return function != nullptr;
}

std::string InstalledNccl::find() {
  const char *given = std::getenv("GC3_NCCL_LIB");
  void *library = dlopen(given ? given : "libnccl.so.2", RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    return dlerror();
  int (*getVersion)(int *) = nullptr;
  if (!found("ncclGetVersion", library, getVersion) || !found("ncclCommInitAll", library, commInitAll) ||
      !found("ncclCommDestroy", library, commDestroy) || !found("ncclGroupStart", library, groupStart) ||
      !found("ncclGroupEnd", library, groupEnd) || !found("ncclAllReduce", library, allReduce) ||
      !found("ncclAllGather", library, allGather) || !found("ncclReduceScatter", library, reduceScatter) ||
      !found("ncclGetErrorString", library, getErrorString))
    return "a function is missing";
  found("ncclAlltoAll", library, alltoAll); // from 2.28 on
  const int result = getVersion(&version);
  return result == 0 ? "" : getErrorString(result);
}

} // namespace gc3::test
