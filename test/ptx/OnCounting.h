// SPDX-License-Identifier: Apache-2.0
// Runs a thread of PTX on the machine that counts accesses. Does not count accesses to the word that receives the
// result.
#pragma once

#include "CountingMachine.h"
#include "ptx/Thread.h"

namespace gc3::ptx {

class OnCounting final : public Machine {
public:
  OnCounting(test::CountingMachine &counting, uint32_t &result) : counting(counting), result(result) {}

  uint32_t block() const override { return 0; }
  uint32_t thread() const override { return counting.thread(); }
  uint32_t threads() const override { return counting.threads(); }
  bool warpAll(bool holds) override { return counting.warpAll(holds); }
  void warpSync() override {}
  void loadWeak(const std::byte *at, void *value, uint32_t bytes) override {
    if (isResult(at, bytes))
      std::memcpy(value, &result, bytes);
    else
      counting.loadBytes(at, value, bytes);
  }
  void storeWeak(std::byte *at, const void *value, uint32_t bytes) override {
    if (isResult(at, bytes))
      std::memcpy(&result, value, bytes);
    else
      counting.storeBytes(at, value, bytes);
  }
  kernel::Pack loadFlagged(const std::byte *at) override { return counting.loadFlagged(at); }
  void storeFlagged(std::byte *at, const kernel::Pack &pack) override { counting.storeFlagged(at, pack); }
  kernel::Pack loadLine(const std::byte *at) override { return counting.loadLine(at); }
  void storeLine(std::byte *at, const kernel::Pack &pack) override { counting.storeLine(true, at, pack); }
  uint32_t loadStopWord(const uint32_t *at) override { return counting.loadStopWord(at); }

  uint64_t now() override { refuse(); }
  void barrier() override { refuse(); }
  bool barrierAny(bool) override { refuse(); }
  void fence(kernel::Scope) override { refuse(); }
  uint64_t acquire(const uint64_t *, kernel::Scope) override { refuse(); }
  void publish(uint64_t *, uint64_t, kernel::Scope) override { refuse(); }
  uint64_t network(NetworkCall, const uint64_t *) override { refuse(); }

private:
  [[noreturn]] static void refuse() { throw Fault("data movement needs no such instruction"); }

  bool isResult(const std::byte *at, uint32_t bytes) const {
    return at == reinterpret_cast<const std::byte *>(&result) && bytes == sizeof result;
  }

  test::CountingMachine &counting;
  uint32_t &result;
};

} // namespace gc3::ptx
