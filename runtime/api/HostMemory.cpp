// SPDX-License-Identifier: Apache-2.0
// gc3HostMemAlloc and gc3HostMemFree.
#include "api/Init.h"
#include "host/BufferArena.h"

using namespace gc3;
using core::Outcome;

extern "C" gc3Result_t gc3HostMemAlloc(void **buffer, size_t bytes) {
  return api::guarded(nullptr, [&]() -> Outcome {
    if (!buffer)
      return {gc3InvalidArgument, "buffer is null"};
    *buffer = nullptr;
    return host::arena::allocate(bytes).moveTo(*buffer);
  });
}

extern "C" gc3Result_t gc3HostMemFree(void *buffer) {
  return api::guarded(nullptr, [&] { return buffer ? host::arena::release(buffer) : Outcome{}; });
}
