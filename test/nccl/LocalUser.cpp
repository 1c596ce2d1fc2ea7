// SPDX-License-Identifier: Apache-2.0
// LocalUser MODULE: opens a module that is linked with NCCL, with RTLD_LOCAL, and calls its useNccl().
#include <cstdio>
#include <dlfcn.h>

int main(int argc, char **argv) {
  void *module = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  auto *use = module ? reinterpret_cast<int (*)()>(dlsym(module, "useNccl")) : nullptr;
  if (!use) {
    std::puts(module ? "no useNccl" : dlerror());
    return 1;
  }
  return use();
}
