// SPDX-License-Identifier: Apache-2.0
// The operations that a thread of PTX needs from a GPU. Each function is one PTX instruction, or one kind of access.
#pragma once

#include "kernel/Image.h"

namespace gc3::ptx {

/// A call of a function that a test replaces: the network of runtime/gin.
enum class NetworkCall : uint8_t { Put, Add, Read };

class Machine {
public:
  virtual ~Machine() = default;

  virtual uint32_t block() const = 0;
  virtual uint32_t thread() const = 0;
  virtual uint32_t threads() const = 0;
  virtual uint64_t now() = 0;

  virtual void barrier() = 0;
  virtual bool barrierAny(bool holds) = 0;
  virtual bool warpAll(bool holds) = 0;
  virtual void warpSync() = 0;
  virtual void fence(kernel::Scope scope) = 0;

  // Accesses to global memory. `at` is aligned to the width of the access.
  virtual void loadWeak(const std::byte *at, void *value, uint32_t bytes) = 0;
  virtual void storeWeak(std::byte *at, const void *value, uint32_t bytes) = 0;
  virtual uint64_t acquire(const uint64_t *at, kernel::Scope scope) = 0;
  virtual void publish(uint64_t *at, uint64_t value, kernel::Scope scope) = 0;
  virtual kernel::Pack loadFlagged(const std::byte *at) = 0;
  virtual void storeFlagged(std::byte *at, const kernel::Pack &pack) = 0;
  virtual kernel::Pack loadLine(const std::byte *at) = 0;
  virtual void storeLine(std::byte *at, const kernel::Pack &pack) = 0;
  virtual uint32_t loadStopWord(const uint32_t *at) = 0;

  /// Calls a function of the network with these arguments. Returns the result of Read, else 0.
  virtual uint64_t network(NetworkCall call, const uint64_t *arguments) = 0;
};

} // namespace gc3::ptx
