// SPDX-License-Identifier: Apache-2.0
#include "InstalledNccl.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>

namespace gc3::test {

template <typename Function>
static bool found(const char *name, void *library, Function &function) {
  void *symbol = dlsym(RTLD_DEFAULT, name); // an interposer has priority over NCCL
  function = reinterpret_cast<Function>(symbol ? symbol : dlsym(library, name));
  return function != nullptr;
}

std::string InstalledNccl::find() {
  const char *given = std::getenv("GC3_NCCL_LIB");
  void *library = dlopen(given && *given ? given : "libnccl.so.2", RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    return dlerror();
  int (*getVersion)(int *) = nullptr;
  if (!found("ncclGetVersion", library, getVersion) || !found("ncclCommInitAll", library, commInitAll) ||
      !found("ncclCommDestroy", library, commDestroy) || !found("ncclGroupStart", library, groupStart) ||
      !found("ncclGroupEnd", library, groupEnd) || !found("ncclAllReduce", library, allReduce) ||
      !found("ncclAllGather", library, allGather) || !found("ncclReduceScatter", library, reduceScatter) ||
      !found("ncclGetErrorString", library, getErrorString))
    return "a function is missing";
  found("ncclAlltoAll", library, alltoAll); // since NCCL 2.28
  const int result = getVersion(&version);
  return result == 0 ? "" : getErrorString(result);
}

void shareGpu(int ranks) {
  int multiprocessors = 0;
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 0);
  setenv("NCCL_MAX_CTAS", std::to_string(std::max(1, multiprocessors / ranks)).c_str(), 0);
  setenv("NCCL_NVLS_ENABLE", "0", 0);
}

} // namespace gc3::test
