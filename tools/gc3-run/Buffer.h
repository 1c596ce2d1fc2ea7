// SPDX-License-Identifier: Apache-2.0
// Host memory of one rank's input or output.
#pragma once

#include "gc3.h"
#include "host/Memory.h"

#include <memory>
#include <string>

namespace gc3::run {

class Buffer {
public:
  /// Ensures a capacity of `bytes`, with zeros if the block grows. If `isShared` is true, other processes of the job
  /// can map the memory. Returns why there is no memory, or an empty string.
  std::string reserve(size_t bytes, bool isShared) {
    if (!isShared)
      return own.reserve(bytes) ? "" : "the system refuses " + std::to_string(bytes) + " bytes";
    if (bytes <= sharedBytes)
      return {};
    shared.reset();
    sharedBytes = 0;
    void *made = nullptr;
    if (gc3HostMemAlloc(&made, bytes) != gc3Success)
      return gc3GetLastError(nullptr);
    shared.reset(made);
    sharedBytes = bytes;
    return {};
  }
  std::byte *data() const { return shared ? static_cast<std::byte *>(shared.get()) : own.data(); }
  size_t size() const { return shared ? sharedBytes : own.size(); }

private:
  struct Free {
    void operator()(void *buffer) const { gc3HostMemFree(buffer); }
  };
  host::Memory own;
  std::unique_ptr<void, Free> shared;
  size_t sharedBytes = 0;
};

} // namespace gc3::run
