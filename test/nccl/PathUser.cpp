// SPDX-License-Identifier: Apache-2.0
// PathUser LIBRARY [communicate]: opens a libnccl.so.2 by its path, and calls functions that it looks up there. Without
// `communicate`, calls only functions that need no GPU, so that they work with the installed NCCL, too.
#include "ncclapi/Abi.h"

#include <cstdio>
#include <dlfcn.h>
#include <initializer_list>

using namespace gc3::ncclapi;

static void *library;

/// Calls `name`. Returns -1 if the library has no such function.
template <typename Type, typename... Args>
static int call(const char *name, Args... args) {
  auto *function = reinterpret_cast<Type *>(dlsym(library, name));
  return function ? static_cast<int>(function(args...)) : -1;
}

static void communicate() {
  Comm comm = nullptr;
  int ranks = 0;
  std::printf("result %d\n", call<signature::CommInitRank>("ncclCommInitRank", &comm, 4, UniqueId{}, 1));
  call<signature::CommCount>("ncclCommCount", comm, &ranks);
  std::printf("%d ranks\n", ranks);
  for (const char *name : {"ncclAllReduce", "pncclAllReduce"})
    call<signature::AllReduce>(name, nullptr, nullptr, size_t{2}, DataType::Int8, RedOp::Sum, comm, nullptr);
  call<Result(const void *, size_t, DataType, int, Comm, Stream)>("ncclSend", nullptr, size_t{5}, DataType::Float16, 6,
                                                                  comm, reinterpret_cast<Stream>(0x70));
  call<signature::GroupStart>("ncclGroupStart");
  call<signature::AlltoAll>("ncclAlltoAll", nullptr, nullptr, size_t{2}, DataType::Int8, comm, nullptr);
  call<signature::CommDestroy>("ncclCommDestroy", comm);
  std::printf("group %d\n", call<signature::GroupEnd>("ncclGroupEnd"));
}

int main(int argc, char **argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0); // keeps the order of stdout and stderr
  library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library) {
    std::puts(argc > 1 ? dlerror() : "which library?");
    return 1;
  }
  int version = 0;
  for (const char *name : {"ncclGetVersion", "ncclGetVersion", "pncclGetVersion"})
    std::printf("%s %d\n", name, call<Result(int *)>(name, &version));
  std::printf("version %d\n", version);
  auto *text = reinterpret_cast<const char *(*)(Result)>(dlsym(library, "ncclGetErrorString"));
  std::printf("text %s\n", text ? text(Result::InvalidArgument) : "none");
  std::printf("ncclMemFree %d\n", call<Result(void *)>("ncclMemFree", nullptr));
  if (argc > 2)
    communicate();
  return 0;
}
