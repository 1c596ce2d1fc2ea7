// SPDX-License-Identifier: Apache-2.0
// An emulated GPU for tests of device code. Every thread is a fiber. Over many seeds, memory shows every behaviour that
// the memory model allows. A test can add a kernel while others run. All kernels access the same memory, so one
// emulated GPU can represent several GPUs.
//
// Weak stores wait in a buffer of their block and arrive in any order. A fence delivers the earlier stores of its
// thread, and the stores that all threads of the block made before the last barrier. Weak loads can return old data
// from a first-level cache, which an acquire clears. A flagged store (LL) arrives as two separate elements of 8 bytes.
// A line of LL128 arrives whole, or its last 8 bytes arrive last. The network (GIN) reads the source of a put at any
// later time. After all bytes of a put have landed, the network adds to the put's signal. Puts are not ordered with
// each other. A switch loads only what has arrived, also if the loading block has stored something else. It reduces in
// any order, and its stores arrive at the ranks in any order. A seed determines the order of all these events.
#pragma once

#include "FakeSwitch.h"
#include "Fibers.h"
#include "Scopes.h"
#include "host/Random.h"
#include "kernel/Words.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gc3::test {

/// The state of the network, which all ranks share. It persists across launches.
struct FakeNetwork {
  std::map<std::array<uint32_t, 3>, uint64_t> signals; ///< value by rank, context and signal id
  /// Returns the address of an offset in a rank's region of a window.
  std::function<std::byte *(const void *window, uint32_t rank, uint64_t offset)> place;
  uint32_t signalCount = UINT32_MAX; ///< number of a rank's signals in each context
  uint64_t leftBehind = 0;           ///< messages that had not landed when the kernel of their sender ended
  uint64_t gaveBack = 0;             ///< number of signals that returned slots
};

/// A rank's endpoint of the network. kernel::BlockImage::network points to it.
struct NetworkEnd {
  FakeNetwork *network;
  uint32_t rank, contexts;
};

class Gpu {
public:
  /// Deliberate faults, to check that tests notice them.
  struct Faults {
    Faults() {} // clang requires this for the default argument below

    bool fences = false;   ///< fences have no effect
    bool acquires = false; ///< acquires and fences do not clear the cache
  };

  Gpu(uint32_t threadsPerBlock, uint64_t seed, Faults faults = {});

  class Machine;
  struct Kernel {
    uint32_t blocks;
    std::function<void(Machine &)> body;   ///< code of one thread
    const uint32_t *stop;                  ///< flag that the kernel's threads poll: not 0 if they must stop
    std::function<void()> resumed = [] {}; ///< the emulator calls it before it resumes a thread of the kernel
  };
  /// Starts a kernel and returns its number.
  uint32_t add(Kernel kernel);
  /// Runs all kernels concurrently until one ends, and returns true. Returns false if no thread can make progress.
  bool run();
  bool ended(uint32_t kernel) const { return grids[kernel].ended == grids[kernel].kernel.blocks * threadsPerBlock; }
  bool idle() const { return alive.empty(); }

  /// The interface through which one thread of device code uses the GPU.
  class Machine {
  public:
    static constexpr bool hasNetwork = true;

    /// `block` is the block's number among the blocks of all kernels. `first` is that number for the kernel's first
    /// block.
    Machine(Gpu &gpu, uint32_t first, uint32_t block, uint32_t thread)
        : gpu(gpu), first(first), ownBlock(block), ownThread(thread) {}

    /// Copies the endpoint. The endpoint's network must outlive this object.
    void connect(const NetworkEnd &toNetwork) { end = toNetwork; }
    /// From now on `ofLaunch` checks this thread's fences and accesses. A thread needs this call before all others.
    /// `ofLaunch` must outlive this object.
    void check(Scopes &ofLaunch) { scopes = &ofLaunch; }

    uint32_t block() const { return ownBlock - first; }
    uint32_t thread() const { return ownThread; }
    uint32_t threads() const { return gpu.threadsPerBlock; }
    void barrier() { barrier(false, false); }
    bool barrierAny(bool holds) { return barrier(true, holds); }
    bool warpAll(bool holds) { return gpu.meet(ownBlock, ownThread, Meeting::Vote, holds); }
    /// Waits for all lanes of the warp. They are then converged, so that the next store of each lane is part of a line.
    void warpSync() {
      gpu.meet(ownBlock, ownThread, Meeting::Sync, true);
      isConverged = true;
    }
    void pause() { gpu.pause(); }

    template <uint32_t G>
    kernel::Unit<G> load(const std::byte *at) {
      kernel::Unit<G> value;
      loadBytes(at, &value, G);
      return value;
    }
    template <uint32_t G>
    void store(std::byte *at, const kernel::Unit<G> &value) {
      storeBytes(at, &value, G);
    }
    void loadBytes(const std::byte *at, void *value, uint32_t bytes) {
      scopes->weak(at, bytes);
      gpu.load(ownBlock, ownThread, at, value, bytes);
    }
    void storeBytes(std::byte *at, const void *value, uint32_t bytes) {
      scopes->weak(at, bytes);
      gpu.store(ownBlock, ownThread, at, value, bytes);
    }
    uint64_t acquire(const uint64_t *at, kernel::Scope scope) {
      scopes->acquired(at, scope);
      return gpu.acquire(ownBlock, at);
    }
    void fence(kernel::Scope scope) {
      scopes->fenced(block(), scope);
      gpu.fence(ownBlock, ownThread);
    }
    void publish(uint64_t *at, uint64_t value, kernel::Scope scope) {
      scopes->published(block(), at, scope);
      gpu.store(ownBlock, ownThread, at, &value, sizeof value);
    }
    kernel::Pack loadFlagged(const std::byte *at) {
      scopes->line(at, kernel::Protocol::LL);
      return gpu.loadStrong(at, true);
    }
    void storeFlagged(std::byte *at, const kernel::Pack &pack) {
      scopes->line(at, kernel::Protocol::LL);
      gpu.store(ownBlock, ownThread, at, &pack.low, 8);
      gpu.store(ownBlock, ownThread, at + 8, &pack.high, 8);
    }
    kernel::Pack loadLine(const std::byte *at) {
      scopes->line(at, kernel::Protocol::LL128);
      return gpu.loadStrong(at, false);
    }
    void storeLine(bool hasLine, std::byte *at, const kernel::Pack &pack) {
      warpSync();
      if (hasLine)
        storeConverged(at, pack);
    }
    /// Stores this lane's part of a line. The lanes must have converged since the lane's last such store.
    void storeConverged(std::byte *at, const kernel::Pack &pack) {
      scopes->line(at, kernel::Protocol::LL128);
      if (!std::exchange(isConverged, false))
        throw Violation("the lanes of the line have not converged before this store");
      gpu.storeLine(ownBlock, ownThread, at, pack);
    }
    void put(uint32_t peer, const void *window, uint64_t to, uint64_t from, uint64_t bytes, kernel::Signal signal) {
      scopes->put(block());
      gpu.put(ownBlock, ownThread,
              {end.network->place(window, peer, to), end.network->place(window, end.rank, from), bytes,
               &signalOf(peer, signal), 1, end.network});
    }
    void signal(uint32_t peer, kernel::Signal signal, uint64_t add) {
      scopes->put(block());
      ++end.network->gaveBack;
      gpu.put(ownBlock, ownThread, {nullptr, nullptr, 0, &signalOf(peer, signal), add});
    }
    uint64_t readSignal(kernel::Signal signal) { return gpu.acquire(ownBlock, &signalOf(end.rank, signal)); }
    template <typename Arithmetic>
    kernel::Pack loadOverSwitch(kernel::Operation op, const std::byte *at) {
      std::vector<std::byte *> parts = FakeSwitch::partsAt(at, sizeof(kernel::Pack));
      kernel::Pack result = loadPart(parts);
      while (!parts.empty())
        result = kernel::combine<Arithmetic>(op, result, loadPart(parts));
      return result;
    }
    void storeOverSwitch(std::byte *at, const kernel::Pack &pack) {
      for (std::byte *part : FakeSwitch::partsAt(at, sizeof pack))
        storeBytes(part, &pack, sizeof pack);
    }
    /// Loads atomically, because the host can write the word at the same time.
    uint32_t loadStopWord(const uint32_t *at) {
      scopes->stopWord(at);
      return __atomic_load_n(at, __ATOMIC_RELAXED);
    }
    uint64_t now() { return Gpu::now(); }

  private:
    /// Loads the pack of a random part, and removes the part.
    kernel::Pack loadPart(std::vector<std::byte *> &parts) {
      std::swap(parts[gpu.random.below(parts.size())], parts.back());
      const std::byte *part = parts.back();
      parts.pop_back();
      scopes->weak(part, sizeof(kernel::Pack));
      return gpu.loadStrong(part, true);
    }
    bool barrier(bool reduces, bool holds) {
      return gpu.barrier(ownBlock, ownThread, reduces, holds, [this] { scopes->passed(block()); });
    }
    uint64_t &signalOf(uint32_t rank, kernel::Signal signal) {
      if (signal.context >= end.contexts || signal.id >= end.network->signalCount)
        std::abort(); // no such signal
      return end.network->signals[{rank, signal.context, signal.id}];
    }

    Gpu &gpu;
    uint32_t first, ownBlock, ownThread;
    bool isConverged = false;
    NetworkEnd end{};
    Scopes *scopes = nullptr;
  };

  static uint64_t now() { return ++clock; }

private:
  static constexpr uint32_t lineBytes = 128;
  /// The emulated time: the number of queries so far. It persists across launches, like the clock of a GPU.
  static inline uint64_t clock = 0;
  /// A store that has not arrived.
  struct Store {
    std::byte *at;
    uint32_t bytes;
    uint32_t thread;
    uint64_t epoch; ///< number of barriers that the block had passed at the store
    bool flagLast;  ///< a line of LL128: its last 8 bytes arrive last
    std::array<std::byte, lineBytes> value;
    bool overlaps(const std::byte *other, uint32_t size) const { return other < at + bytes && at < other + size; }
  };
  struct Line { ///< a line of LL128 that only some lanes have stored
    std::array<std::byte, lineBytes> value;
    uint32_t lanes = 0;
  };
  struct Block {
    std::vector<Store> stores;
    std::unordered_map<const std::byte *, std::byte> cache;
    std::map<std::byte *, Line> lines;
    uint64_t epoch = 0;
    uint32_t arrived = 0;             ///< threads at the barrier
    bool reduces = false;             ///< the kind of this barrier: whether it returns a disjunction
    bool any = false, result = false; ///< the disjunction that a barrier returns: so far, and of the last barrier
    uint32_t ended = 0;
  };
  /// A put or signal of the network. Transfers are unordered.
  struct Transfer {
    std::byte *to;
    const std::byte *from;
    uint64_t bytes;
    uint64_t *signal;
    uint64_t add;
    FakeNetwork *network = nullptr; ///< set for messages, null for signals
    uint32_t grid = 0;              ///< number of the kernel that issued the transfer
    uint64_t done = 0;              ///< bytes that have landed
  };
  struct Grid {
    Kernel kernel;
    uint32_t firstBlock;
    uint32_t ended = 0; ///< number of threads that have ended
  };
  /// An instruction for which all lanes of a warp wait.
  enum class Meeting : uint8_t { Vote, Sync };
  struct Warp {
    uint32_t arrived = 0, ended = 0;
    Meeting meeting{}; ///< of the lanes that have arrived
    bool all = true, result = true;
    uint64_t votes = 0;
  };

  bool barrier(uint32_t block, uint32_t thread, bool reduces, bool holds, const std::function<void()> &released);
  bool releaseBarrier(uint32_t block);
  bool meet(uint32_t block, uint32_t thread, Meeting meeting, bool holds);
  void releaseVote(uint32_t warp);
  uint32_t firstLane(uint32_t warp) const;
  void pause();
  void perhapsSuspend();
  void load(uint32_t block, uint32_t thread, const void *at, void *value, uint32_t bytes);
  void store(uint32_t block, uint32_t thread, void *at, const void *value, uint32_t bytes);
  void storeLine(uint32_t block, uint32_t thread, std::byte *at, const kernel::Pack &pack);
  kernel::Pack loadStrong(const std::byte *at, bool byElement);
  uint64_t acquire(uint32_t block, const uint64_t *at);
  void fence(uint32_t block, uint32_t thread);
  void put(uint32_t block, uint32_t thread, Transfer transfer);
  bool transferSome();
  void push(Block &block, Store store);
  void deliver(Block &block, size_t index);
  bool deliverAny();
  uint32_t warpSize(uint32_t warp) const;
  void threadEnded(uint32_t block, uint32_t thread);
  bool resumeSome(uint64_t turns);
  bool isStopped() const;
  void finish(uint32_t grid);

  const uint32_t threadsPerBlock, warpsPerBlock;
  const Faults faults;
  host::Random random;
  // Deques, because threads hold references to elements while add() appends others.
  std::deque<Grid> grids;
  std::deque<Block> blocks;
  std::deque<Warp> warps;
  std::vector<uint32_t> gridOfBlock;
  std::vector<Transfer> transfers;
  std::vector<uint8_t> asleep; ///< for each thread of the GPU: not 0 while the thread waits at a barrier or in a vote
  Fibers fibers;
  std::vector<uint32_t> alive; ///< threads of the GPU that have not ended
  uint64_t changes = 0; ///< number of stores, deliveries, steps of transfers, arrivals at barriers, and ended threads
};

} // namespace gc3::test
