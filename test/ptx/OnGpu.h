// SPDX-License-Identifier: Apache-2.0
// Runs a thread of PTX on a machine of the templates: Gpu::Machine.
#pragma once

#include "Gpu.h"
#include "ptx/Machine.h"

namespace gc3::ptx {

class OnGpu final : public Machine {
public:
  explicit OnGpu(test::Gpu::Machine &gpu) : gpu(gpu) {}

  uint32_t block() const override { return gpu.block(); }
  uint32_t thread() const override { return gpu.thread(); }
  uint32_t threads() const override { return gpu.threads(); }
  uint64_t now() override { return gpu.now(); }

  void barrier() override { gpu.barrier(); }
  bool barrierAny(bool holds) override { return gpu.barrierAny(holds); }
  bool warpAll(bool holds) override { return gpu.warpAll(holds); }
  void warpSync() override { gpu.warpSync(); }
  void fence(kernel::Scope scope) override { gpu.fence(scope); }

  void loadWeak(const std::byte *at, void *value, uint32_t bytes) override { gpu.loadBytes(at, value, bytes); }
  void storeWeak(std::byte *at, const void *value, uint32_t bytes) override { gpu.storeBytes(at, value, bytes); }
  uint64_t acquire(const uint64_t *at, kernel::Scope scope) override { return gpu.acquire(at, scope); }
  void publish(uint64_t *at, uint64_t value, kernel::Scope scope) override { gpu.publish(at, value, scope); }
  kernel::Pack loadFlagged(const std::byte *at) override { return gpu.loadFlagged(at); }
  void storeFlagged(std::byte *at, const kernel::Pack &pack) override { gpu.storeFlagged(at, pack); }
  kernel::Pack loadLine(const std::byte *at) override { return gpu.loadLine(at); }
  void storeLine(std::byte *at, const kernel::Pack &pack) override { gpu.storeConverged(at, pack); }
  uint32_t loadStopWord(const uint32_t *at) override { return gpu.loadStopWord(at); }

  /// The arguments are those of the functions in runtime/gin/Machine.cuh. The first one is the device communicator.
  uint64_t network(NetworkCall call, const uint64_t *arguments) override {
    const auto number = [&](uint32_t i) { return static_cast<uint32_t>(arguments[i]); };
    switch (call) {
    case NetworkCall::Put:
      // NOLINTNEXTLINE(performance-no-int-to-ptr): PTX has addresses in registers
      gpu.put(number(1), reinterpret_cast<const void *>(arguments[2]), arguments[3], arguments[4], arguments[5],
              {number(6), number(7)});
      return 0;
    case NetworkCall::Add: gpu.signal(number(1), {number(2), number(3)}, arguments[4]); return 0;
    case NetworkCall::Read: return gpu.readSignal({number(1), number(2)});
    }
    __builtin_unreachable();
  }

private:
  test::Gpu::Machine &gpu;
};

} // namespace gc3::ptx
