// SPDX-License-Identifier: Apache-2.0
// Support for tests with windows of the application.
#pragma once

#include "CommSupport.h"

#include <algorithm>

namespace gc3::test {

/// Returns options under which all calls compare places.
inline cuda::Options comparing() {
  cuda::Options options = smallOptions();
  options.leastPlacedBytes = 1;
  return options;
}

/// A communicator whose ranks have registered a window each.
class WindowedWorld : public CommWorld {
public:
  static constexpr size_t regionBytes = 1 << 14, windowBytes = (callCount + 1) * regionBytes;

  /// `windows` says which handles NCCL returns to the application. gc3's own windows are real.
  WindowedWorld(FakeCuda &cuda, FakeNccl &nccl, const std::vector<ProgramSpec> &specs,
                const cuda::Options &options = comparing(), FakeNccl::Windows windows = FakeNccl::Windows::Real)
      : WindowedWorld(cuda, nccl, open(specs), options, windows) {}
  WindowedWorld(FakeCuda &cuda, FakeNccl &nccl, std::shared_ptr<const bundle::BundleFile> bundle,
                const cuda::Options &options, FakeNccl::Windows windows = FakeNccl::Windows::Real)
      : CommWorld(cuda, nccl, std::move(bundle), options), windows(windows) {
    EXPECT_EQ(joinProblem(), "");
    allocate();
    addWindows();
  }
  ~WindowedWorld() {
    endAll(ranks);
    deregisterWindows();
    for (void *allocated : memory)
      applicationCall<ncclapi::signature::MemFree>("MemFree", allocated);
  }

  /// Makes a rank's windows with gc3 consist of the bytes from `begin` to `end` of its window.
  void replaceWindow(size_t rank, size_t begin, size_t end) {
    ranks[rank]->windows().remove(handles[rank]);
    ranks[rank]->windows().add(handles[rank], static_cast<std::byte *>(memory[rank]) + begin, end - begin);
  }

  /// Registers the memory of all ranks, and adds the windows.
  void addWindows() {
    handles.resize(comms.size());
    nccl.windows = windows;
    applicationCall<ncclapi::signature::GroupStart>("GroupStart");
    for (size_t rank = 0; rank < comms.size(); ++rank)
      applicationCall<ncclapi::signature::CommWindowRegister>("CommWindowRegister", comms[rank], memory[rank],
                                                              windowBytes, &handles[rank], 0);
    applicationCall<ncclapi::signature::GroupEnd>("GroupEnd");
    nccl.windows = FakeNccl::Windows::Real;
    std::vector<std::thread> threads; // with GC3_SWITCH, a rank waits for the others
    for (size_t rank = 0; rank < comms.size(); ++rank)
      threads.emplace_back([=, this] { ranks[rank]->windows().add(handles[rank], memory[rank], windowBytes); });
    for (std::thread &thread : threads)
      thread.join();
  }
  void deregisterWindows() {
    nccl.windows = windows;
    for (size_t rank = 0; rank < comms.size(); ++rank)
      if (handles[rank])
        applicationCall<ncclapi::signature::CommWindowDeregister>("CommWindowDeregister", comms[rank], handles[rank]);
    nccl.windows = FakeNccl::Windows::Real;
  }

  /// Returns the addresses at `offset` in the windows of all ranks.
  std::vector<std::byte *> at(size_t offset) const {
    std::vector<std::byte *> places;
    for (void *window : memory)
      places.push_back(static_cast<std::byte *>(window) + offset);
    return places;
  }

  /// Returns places of the ranks' memory from `offset` on, at which all receive buffers have the same offset in their
  /// windows, which is a multiple of a pack.
  std::vector<std::byte *> placesFor(const Trial &trial, size_t offset) const {
    size_t most = 0;
    for (const Trial::Memory &rank : trial.initial())
      most = std::max(most, (rank.recv + sizeof(kernel::Pack) - 1) / sizeof(kernel::Pack) * sizeof(kernel::Pack));
    std::vector<std::byte *> places = at(offset);
    for (size_t rank = 0; rank < places.size(); ++rank)
      places[rank] += most - trial.initial()[rank].recv;
    return places;
  }

  /// Makes a call with buffers at `offset` in the windows.
  std::string runAt(size_t offset, size_t program, const TrialOptions &options) {
    const Trial wanted = trial(program, options);
    for (const Trial::Memory &rank : wanted.initial())
      EXPECT_LE(rank.bytes.size(), regionBytes);
    return CommWorld::run(wanted, Loopback::Buffers(wanted, placesFor(wanted, offset)));
  }

  /// Returns the last call of a rank.
  const kernel::KernelArgs &callOf(size_t rank) const { return cuda.callOn.at(streams[rank]); }
  kernel::Place placeOf(size_t rank) const { return callOf(rank).place; }
  /// Returns true if the last call of a rank used the switch. Ranks without thread blocks make no calls.
  bool usedSwitch() const {
    return std::any_of(streams.begin(), streams.end(), [this](cuda::Stream stream) {
      const auto call = cuda.callOn.find(stream);
      return call != cuda.callOn.end() && (static_cast<uint64_t>(call->second.place) & kernel::switchPlaces) != 0;
    });
  }

  /// Returns the number of ranks into whose slots no message was ever stored.
  size_t ranksWithCleanSlots() const {
    size_t clean = 0;
    for (size_t rank = 0; rank < comms.size(); ++rank) {
      const kernel::KernelArgs &call = callOf(rank);
      const auto &blocks = loaded[0]->program->rank(static_cast<uint32_t>(rank)).threadBlocks;
      const size_t bytes = call.slots * call.slotBytes;
      clean += std::all_of(call.blocks, call.blocks + blocks.size(), [&](const kernel::BlockImage &block) {
        return !block.in.slots ||
               std::all_of(block.in.slots, block.in.slots + bytes, [](std::byte byte) { return byte == std::byte{0}; });
      });
    }
    return clean;
  }

  std::vector<void *> memory;
  std::vector<ncclapi::Window> handles;

private:
  const FakeNccl::Windows windows;

  template <typename Signature, typename... Arguments>
  static void applicationCall(const std::string &name, Arguments... arguments) {
    EXPECT_EQ(reinterpret_cast<Signature *>(FakeNccl::applicationFunction(name))(arguments...),
              ncclapi::Result::Success)
        << name;
  }

  void allocate() {
    for (size_t rank = 0; rank < comms.size(); ++rank) {
      FakeCuda::currentDevice = static_cast<int>(rank) / nccl.ranksPerGpu;
      memory.push_back(nullptr);
      applicationCall<ncclapi::signature::MemAlloc>("MemAlloc", &memory.back(), windowBytes);
    }
  }
};

} // namespace gc3::test
