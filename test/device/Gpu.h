// SPDX-License-Identifier: Apache-2.0
// A GPU to test device code on: every thread is a fiber, and memory does whatever the memory model allows. Kernels may
// come while others run; so it stands for several GPUs as well, whose memory all can reach.
//
// Weak stores wait in a buffer of their block and arrive in any order; a fence has those arrive first that come before
// it, in its thread or before a barrier. Weak loads may find what a first-level cache still holds, which an acquire
// empties. Elements of a flagged store arrive one by one, lines of LL128 whole or with their last 8 bytes last. The
// network (GIN) takes its time over reading what it was given and adds to a signal when that has landed, whatever came
// before. One seed, one order.
#pragma once

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
#include <vector>

namespace gc3::test {

/// What ranks have in common over a network: it stays from one launch to the next.
struct FakeNetwork {
  std::map<std::array<uint32_t, 3>, uint64_t> signals; ///< by rank, context, id
  /// An address in a rank's part of a window.
  std::function<std::byte *(const void *window, uint32_t rank, uint64_t offset)> place;
  uint32_t signalCount = UINT32_MAX; ///< of a rank, in each context
  uint64_t leftBehind = 0;           ///< messages that were on their way from a rank whose kernel had ended
  uint64_t gaveBack = 0;             ///< times that slots were
};

/// One rank's, to which kernel::RankImage::network points.
struct NetworkEnd {
  FakeNetwork *network;
  uint32_t rank, contexts;
};

class Gpu {
public:
  /// What a run does wrong on purpose, to see whether tests notice.
  struct Faults {
    Faults() {} // clang: a default argument below needs it

    bool fences = false;   ///< fences have no effect
    bool acquires = false; ///< nothing empties the cache
  };

  Gpu(uint32_t threadsPerBlock, uint64_t seed, Faults faults = {});

  class Machine;
  struct Kernel {
    uint32_t blocks;
    std::function<void(Machine &)> body;   ///< of a thread
    const uint32_t *stop;                  ///< which its threads look at
    std::function<void()> resumed = [] {}; ///< comes before one of its threads goes on
  };
  /// Adds a kernel to those that run, and gives its number.
  uint32_t add(Kernel kernel);
  /// Runs all kernels beside each other until one has ended (true), or nothing can move any more.
  bool run();
  bool ended(uint32_t kernel) const { return grids[kernel].ended == grids[kernel].kernel.blocks * threadsPerBlock; }
  bool idle() const { return alive.empty(); }

  /// What device code asks of a GPU, for one thread.
  class Machine {
  public:
    static constexpr bool hasNetwork = true;

    /// `block` counts over all kernels, of which this one's begin at `first`.
    Machine(Gpu &gpu, uint32_t first, uint32_t block, uint32_t thread)
        : gpu(gpu), first(first), ownBlock(block), ownThread(thread) {}

    /// To the network, which has to stay.
    void connect(const NetworkEnd &toNetwork) { end = toNetwork; }
    /// Who looks at scopes; has to stay.
    void check(Scopes &ofLaunch) { scopes = &ofLaunch; }

    uint32_t block() const { return ownBlock - first; }
    uint32_t thread() const { return ownThread; }
    uint32_t threads() const { return gpu.threadsPerBlock; }
    void barrier() {
      gpu.barrier(ownBlock, ownThread);
      if (ownThread == 0 && scopes)
        scopes->passed(block());
    }
    bool warpAll(bool holds) { return gpu.warpAll(ownBlock, ownThread, holds); }
    void pause() { gpu.pause(); }

    template <uint32_t G>
    kernel::Unit<G> load(const std::byte *at) {
      kernel::Unit<G> value;
      gpu.load(ownBlock, ownThread, at, &value, G);
      return value;
    }
    template <uint32_t G>
    void store(std::byte *at, const kernel::Unit<G> &value) {
      gpu.store(ownBlock, ownThread, at, &value, G);
    }
    uint64_t acquire(const uint64_t *at, kernel::Scope scope) {
      scopes->acquired(at, scope);
      return gpu.acquire(ownBlock, at);
    }
    void fence(kernel::Scope scope) {
      scopes->fenced(block(), scope);
      gpu.fence(ownBlock, ownThread);
    }
    void tell(uint64_t *at, uint64_t value, kernel::Scope scope) {
      scopes->told(block(), at, scope);
      gpu.store(ownBlock, ownThread, at, &value, sizeof value);
    }
    kernel::Pack loadFlagged(const std::byte *at) { return gpu.loadStrong(at, true); }
    void storeFlagged(std::byte *at, const kernel::Pack &pack) {
      gpu.store(ownBlock, ownThread, at, &pack.low, 8);
      gpu.store(ownBlock, ownThread, at + 8, &pack.high, 8);
    }
    kernel::Pack loadLine(const std::byte *at) { return gpu.loadStrong(at, false); }
    void storeLine(std::byte *at, const kernel::Pack &pack) {
      if (at)
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
    /// The host can write it at the same time.
    uint32_t look(const uint32_t *at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
    uint64_t now() { return Gpu::now(); }

  private:
    uint64_t &signalOf(uint32_t rank, kernel::Signal signal) {
      if (signal.context >= end.contexts || signal.id >= end.network->signalCount)
        std::abort(); // there is no such signal
      return end.network->signals[{rank, signal.context, signal.id}];
    }

    Gpu &gpu;
    uint32_t first, ownBlock, ownThread;
    NetworkEnd end{};
    Scopes *scopes = nullptr;
  };

  static uint64_t now() { return ++clock; }

private:
  static constexpr uint32_t lineBytes = 128;
  /// Goes on from launch to launch, as a GPU's does, and ticks whenever somebody looks.
  static inline uint64_t clock = 0;
  /// A store on its way.
  struct Store {
    std::byte *at;
    uint32_t bytes;
    uint32_t thread;
    uint64_t epoch; ///< barriers of the block before it
    bool flagLast;  ///< a line of LL128: its last 8 bytes arrive last
    std::array<std::byte, lineBytes> value;
    bool overlaps(const std::byte *other, uint32_t size) const { return other < at + bytes && at < other + size; }
  };
  struct Line { ///< of which some lanes have stored their part
    std::array<std::byte, lineBytes> value;
    uint32_t lanes = 0;
  };
  struct Block {
    std::vector<Store> stores;
    std::unordered_map<const std::byte *, std::byte> cache;
    std::map<std::byte *, Line> lines;
    uint64_t epoch = 0;
    uint32_t arrived = 0; ///< at the barrier
    uint32_t ended = 0;
  };
  /// What the network has to do. Nothing orders one with another.
  struct Transfer {
    std::byte *to;
    const std::byte *from;
    uint64_t bytes;
    uint64_t *signal;
    uint64_t add;
    FakeNetwork *network = nullptr; ///< of a message
    uint32_t grid = 0;              ///< that gave it
    uint64_t done = 0;              ///< bytes
  };
  struct Grid {
    Kernel kernel;
    uint32_t firstBlock;
    uint32_t ended = 0; ///< threads
  };
  struct Warp {
    uint32_t arrived = 0, ended = 0;
    bool all = true, result = true;
    uint64_t votes = 0;
  };

  void barrier(uint32_t block, uint32_t thread);
  void releaseBarrier(uint32_t block);
  bool warpAll(uint32_t block, uint32_t thread, bool holds);
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
  // Threads hold on to these while others are added.
  std::deque<Grid> grids;
  std::deque<Block> blocks;
  std::deque<Warp> warps;
  std::vector<uint32_t> gridOfBlock;
  std::vector<Transfer> transfers;
  std::vector<uint8_t> asleep; ///< by thread of the grid: waits at a barrier or vote
  Fibers fibers;
  std::vector<uint32_t> alive; ///< threads of the grid that have not ended
  uint64_t changes = 0;        ///< arrived stores, released barriers and votes, ended threads
};

} // namespace gc3::test
