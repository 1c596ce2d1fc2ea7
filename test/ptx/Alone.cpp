// SPDX-License-Identifier: Apache-2.0
#include "Alone.h"

#include "Thread.h"

namespace gc3::ptx {

namespace {

class Alone final : public Machine {
public:
  Alone(uint32_t block, uint32_t thread, uint32_t threads, const std::function<uint64_t()> &now)
      : ownBlock(block), ownThread(thread), threadCount(threads), clock(now) {}

  uint32_t block() const override { return ownBlock; }
  uint32_t thread() const override { return ownThread; }
  uint32_t threads() const override { return threadCount; }
  uint64_t now() override { return clock(); }
  void loadWeak(const std::byte *at, void *value, uint32_t bytes) override { std::memcpy(value, at, bytes); }
  void storeWeak(std::byte *at, const void *value, uint32_t bytes) override { std::memcpy(at, value, bytes); }

  void barrier() override { refuse(); }
  bool barrierAny(bool) override { refuse(); }
  bool warpAll(bool) override { refuse(); }
  void warpSync() override { refuse(); }
  void fence(kernel::Scope) override { refuse(); }
  uint64_t acquire(const uint64_t *, kernel::Scope) override { refuse(); }
  void publish(uint64_t *, uint64_t, kernel::Scope) override { refuse(); }
  kernel::Pack loadFlagged(const std::byte *) override { refuse(); }
  void storeFlagged(std::byte *, const kernel::Pack &) override { refuse(); }
  kernel::Pack loadLine(const std::byte *) override { refuse(); }
  void storeLine(std::byte *, const kernel::Pack &) override { refuse(); }
  uint32_t loadStopWord(const uint32_t *) override { refuse(); }
  uint64_t network(NetworkCall, const uint64_t *) override { refuse(); }

private:
  [[noreturn]] static void refuse() { throw Fault("no other thread runs"); }

  const uint32_t ownBlock, ownThread, threadCount;
  const std::function<uint64_t()> &clock;
};

} // namespace

void runAlone(const Entry &entry, uint32_t blocks, uint32_t threads, std::span<const uint64_t> arguments,
              const std::function<uint64_t()> &now) {
  const Kernel &kernel = *entry.kernel;
  if (arguments.size() != kernel.parameters.size())
    throw Fault(entry.module->path + ": the kernel has another number of parameters");
  std::vector<uint64_t> parameters(arguments.size()); // each parameter has at most 8 bytes
  for (size_t i = 0; i < arguments.size(); ++i) {
    const uint32_t end = i + 1 < arguments.size() ? kernel.parameters[i + 1] : kernel.parameterBytes;
    std::memcpy(reinterpret_cast<std::byte *>(parameters.data()) + kernel.parameters[i], &arguments[i],
                std::min<size_t>(end - kernel.parameters[i], sizeof(uint64_t)));
  }
  std::vector<uint64_t> shared((kernel.sharedBytes + 7) / 8);
  const BlockMemory memory{std::as_bytes(std::span(parameters)).first(kernel.parameterBytes),
                           std::as_writable_bytes(std::span(shared)), blocks};
  for (uint32_t block = 0; block < blocks; ++block)
    for (uint32_t thread = 0; thread < threads; ++thread) {
      Alone machine(block, thread, threads, now);
      Thread(*entry.module, kernel, memory, machine).run();
    }
}

} // namespace gc3::ptx
