// SPDX-License-Identifier: Apache-2.0
#include "Gpu.h"

#include <algorithm>
#include <stdexcept>

namespace gc3::test {

using kernel::Pack;

namespace {
/// The largest number of stores of a block that can wait for delivery.
constexpr size_t mostStores = 48;
/// The largest number of rounds without progress after a stop request. In a round each thread polls about 64 times. A
/// thread checks the stop flag once in 1024 polls, so it needs about 16 rounds to see the flag.
constexpr uint64_t mostStops = 1000;

bool isSet(const uint32_t *stop) {
  return __atomic_load_n(stop, __ATOMIC_RELAXED) != 0;
}

/// Copies `bytes` bytes to memory. Copies an aligned word atomically, because host threads can load it at the same
/// time.
void copyToMemory(std::byte *to, const std::byte *from, uint32_t bytes) {
  uint64_t word;
  if (bytes != sizeof word || reinterpret_cast<uintptr_t>(to) % sizeof word != 0) {
    std::memcpy(to, from, bytes);
    return;
  }
  std::memcpy(&word, from, sizeof word);
  __atomic_store_n(reinterpret_cast<uint64_t *>(to), word, __ATOMIC_RELEASE);
}
} // namespace

Gpu::Gpu(uint32_t threads, uint64_t seed, Faults chosen)
    : threadsPerBlock(threads), warpsPerBlock((threads + 31) / 32), faults(chosen), random(seed) {}

uint32_t Gpu::warpSize(uint32_t warp) const {
  return std::min(threadsPerBlock - warp % warpsPerBlock * 32, 32u);
}

uint32_t Gpu::add(Kernel kernel) {
  const auto number = static_cast<uint32_t>(grids.size()), first = static_cast<uint32_t>(blocks.size());
  const uint32_t end = first + kernel.blocks;
  grids.push_back({std::move(kernel), first});
  blocks.resize(end);
  gridOfBlock.resize(end, number);
  warps.resize(end * warpsPerBlock);
  asleep.resize(end * threadsPerBlock);
  for (uint32_t b = first; b < end; ++b)
    for (uint32_t t = 0; t < threadsPerBlock; ++t) {
      alive.push_back(static_cast<uint32_t>(fibers.count()));
      fibers.add([this, number, first, b, t] {
        Machine machine(*this, first, b, t);
        grids[number].kernel.body(machine);
        threadEnded(b, t);
      });
    }
  return number;
}

/// Chooses a random thread `turns` times, and resumes it unless it is asleep. Returns true when a kernel has ended.
bool Gpu::resumeSome(uint64_t turns) {
  for (; turns > 0 && !alive.empty(); --turns) {
    const size_t chosen = random.below(alive.size());
    const uint32_t thread = alive[chosen];
    if (asleep[thread] != 0)
      continue;
    const uint32_t grid = gridOfBlock[thread / threadsPerBlock];
    grids[grid].kernel.resumed();
    fibers.resume(thread);
    if (!fibers.ended(thread))
      continue;
    alive[chosen] = alive.back();
    alive.pop_back();
    ++grids[grid].ended;
    if (ended(grid)) {
      finish(grid);
      return true;
    }
  }
  return false;
}

/// Delivers all stores of a kernel that has ended. Counts the messages of this kernel that have not landed. When the
/// last kernel has ended, completes all transfers of the network.
void Gpu::finish(uint32_t number) {
  const Grid &grid = grids[number];
  for (uint32_t b = grid.firstBlock; b < grid.firstBlock + grid.kernel.blocks; ++b)
    while (!blocks[b].stores.empty())
      deliver(blocks[b], 0);
  for (const Transfer &transfer : transfers)
    if (transfer.network && transfer.grid == number && !isSet(grid.kernel.stop))
      ++transfer.network->leftBehind;
  while (idle() && transferSome())
    continue;
}

/// Returns true if the stop flag of a running kernel is set. Threads of that kernel see the flag only after some polls.
bool Gpu::isStopped() const {
  return std::any_of(alive.begin(), alive.end(),
                     [&](uint32_t thread) { return isSet(grids[gridOfBlock[thread / threadsPerBlock]].kernel.stop); });
}

bool Gpu::run() {
  uint64_t stops = 0; // rounds in which no thread could do anything except poll the stop flag
  for (uint64_t idle = 0; !alive.empty();) {
    const uint64_t before = changes;
    // Resume some threads, then deliver some stores. Both numbers are random, so that more orders occur.
    const uint64_t turns = 1 + random.below(2 * alive.size());
    if (resumeSome(turns))
      return true;
    for (uint64_t stores = random.below(8); stores-- > 0;)
      deliverAny();
    for (uint64_t some = random.below(4); some-- > 0;)
      transferSome();
    idle = changes == before ? idle + turns : 0;
    if (idle > 64 * alive.size() && !deliverAny() && !transferSome()) {
      if (!isStopped())
        return false;
      if (++stops == mostStops)
        throw std::runtime_error("a thread that was requested to stop continues");
      idle = 0;
    }
  }
  return false;
}

void Gpu::threadEnded(uint32_t block, uint32_t thread) {
  ++changes;
  const uint32_t warp = block * warpsPerBlock + thread / 32;
  ++warps[warp].ended;
  releaseVote(warp);
  ++blocks[block].ended;
  releaseBarrier(block);
}

void Gpu::pause() {
  fibers.suspend();
}

void Gpu::perhapsSuspend() {
  if (random.below(8) == 0)
    fibers.suspend();
}

/// Releases the barrier if all threads that have not ended have arrived. Returns whether it has done so.
bool Gpu::releaseBarrier(uint32_t number) {
  Block &block = blocks[number];
  if (block.arrived == 0 || block.arrived + block.ended < threadsPerBlock)
    return false;
  block.result = block.any;
  block.any = false;
  block.arrived = 0;
  ++block.epoch;
  ++changes;
  std::fill_n(asleep.begin() + number * threadsPerBlock, threadsPerBlock, 0);
  return true;
}

/// Calls `released` in the last thread that arrives. Returns whether `holds` is true in any thread. The next barrier
/// cannot complete before this thread has left this one.
bool Gpu::barrier(uint32_t number, uint32_t thread, bool reduces, bool holds, const std::function<void()> &released) {
  Block &block = blocks[number];
  const uint64_t epoch = block.epoch;
  if (block.arrived != 0 && block.reduces != reduces)
    throw Violation("threads of the block wait at a barrier of the other kind");
  block.reduces = reduces;
  block.any |= holds;
  ++block.arrived;
  ++changes;
  asleep[number * threadsPerBlock + thread] = 1;
  if (releaseBarrier(number))
    released();
  while (block.epoch == epoch)
    fibers.suspend();
  return block.result;
}

uint32_t Gpu::firstLane(uint32_t warp) const {
  return warp / warpsPerBlock * threadsPerBlock + warp % warpsPerBlock * 32;
}

void Gpu::releaseVote(uint32_t number) {
  Warp &warp = warps[number];
  if (warp.arrived == 0 || warp.arrived + warp.ended < warpSize(number))
    return;
  warp.result = warp.all;
  warp.all = true;
  warp.arrived = 0;
  ++warp.votes;
  std::fill_n(asleep.begin() + firstLane(number), warpSize(number), 0);
}

/// Returns whether `holds` is true in all lanes.
bool Gpu::meet(uint32_t block, uint32_t thread, Meeting meeting, bool holds) {
  const uint32_t number = block * warpsPerBlock + thread / 32;
  Warp &warp = warps[number];
  const uint64_t vote = warp.votes;
  if (warp.arrived != 0 && warp.meeting != meeting)
    throw Violation("lanes of the warp wait at another instruction");
  warp.meeting = meeting;
  warp.all &= holds;
  ++warp.arrived;
  asleep[block * threadsPerBlock + thread] = 1;
  releaseVote(number);
  while (warp.votes == vote)
    fibers.suspend();
  return warp.result;
}

/// Loads each byte from memory or the cache. Then applies pending stores: the thread's own, and the stores that the
/// whole block made before its last barrier.
void Gpu::load(uint32_t number, uint32_t thread, const void *from, void *value, uint32_t bytes) {
  perhapsSuspend();
  Block &block = blocks[number];
  const auto *at = static_cast<const std::byte *>(from);
  auto *to = static_cast<std::byte *>(value);
  std::memcpy(to, at, bytes);
  const bool stale = random.below(2) == 0;
  for (uint32_t i = 0; i < bytes; ++i) {
    auto [cached, isNew] = block.cache.try_emplace(at + i, to[i]);
    if (!isNew)
      (stale ? to[i] : cached->second) = stale ? cached->second : to[i];
  }
  for (const Store &store : block.stores)
    if ((store.thread == thread || store.epoch < block.epoch) && store.overlaps(at, bytes)) {
      const std::byte *begin = std::max<const std::byte *>(at, store.at);
      const std::byte *end = std::min<const std::byte *>(at + bytes, store.at + store.bytes);
      std::memcpy(to + (begin - at), store.value.data() + (begin - store.at), static_cast<size_t>(end - begin));
    }
}

void Gpu::store(uint32_t number, uint32_t thread, void *to, const void *value, uint32_t bytes) {
  perhapsSuspend();
  Store store{static_cast<std::byte *>(to), bytes, thread, blocks[number].epoch, false, {}};
  std::memcpy(store.value.data(), value, bytes);
  push(blocks[number], store);
}

/// Eight lanes store a line together. The call of the eighth lane stores the whole line.
void Gpu::storeLine(uint32_t number, uint32_t thread, std::byte *at, const Pack &pack) {
  perhapsSuspend();
  Block &block = blocks[number];
  std::byte *begin = at - reinterpret_cast<uintptr_t>(at) % lineBytes;
  Line &line = block.lines[begin];
  std::memcpy(line.value.data() + (at - begin), &pack, sizeof pack);
  if (++line.lanes < lineBytes / sizeof pack)
    return;
  push(block, {begin, lineBytes, thread, block.epoch, true, line.value});
  block.lines.erase(begin);
}

void Gpu::push(Block &block, Store store) {
  if (block.stores.size() == mostStores)
    deliver(block, random.below(mostStores));
  block.stores.push_back(store);
  ++changes;
}

/// Delivers store `index`, or an older store that must arrive before it. Stores that overlap arrive in order. So this
/// function follows the chain of overlaps from store `index` to older stores, and delivers the oldest one. For a line
/// of LL128, sometimes delivers only the data, and leaves the flag for a later call.
void Gpu::deliver(Block &block, size_t index) {
  for (size_t older = 0; older < index;) {
    const bool overlaps = block.stores[older].overlaps(block.stores[index].at, block.stores[index].bytes);
    index = overlaps ? older : index;
    older = overlaps ? 0 : older + 1;
  }
  Store &store = block.stores[index];
  ++changes;
  if (store.flagLast && random.below(2) == 0) {
    std::memcpy(store.at, store.value.data(), lineBytes - 8);
    store.flagLast = false;
    return;
  }
  copyToMemory(store.at, store.value.data(), store.bytes);
  for (uint32_t i = 0; i < store.bytes; ++i)
    block.cache.erase(store.at + i);
  block.stores.erase(block.stores.begin() + static_cast<ptrdiff_t>(index));
}

bool Gpu::deliverAny() {
  const size_t first = random.below(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    Block &block = blocks[(first + i) % blocks.size()];
    if (!block.stores.empty()) {
      deliver(block, random.below(block.stores.size()));
      return true;
    }
  }
  return false;
}

/// Loads two elements of 8 bytes. If `byElement` is true, memory can change between the two loads.
Pack Gpu::loadStrong(const std::byte *at, bool byElement) {
  Pack pack;
  std::memcpy(&pack.low, at, sizeof pack.low);
  if (byElement)
    perhapsSuspend();
  std::memcpy(&pack.high, at + sizeof pack.low, sizeof pack.high);
  return pack;
}

uint64_t Gpu::acquire(uint32_t block, const uint64_t *at) {
  perhapsSuspend();
  uint64_t value;
  std::memcpy(&value, at, sizeof value);
  if (!faults.acquires)
    blocks[block].cache.clear();
  return value;
}

/// Delivers the stores of the thread, and all stores of the block before its last barrier, because fences are
/// cumulative.
void Gpu::fence(uint32_t number, uint32_t thread) {
  perhapsSuspend();
  Block &block = blocks[number];
  if (faults.fences)
    return;
  for (size_t i = 0; i < block.stores.size();)
    if (block.stores[i].thread == thread || block.stores[i].epoch < block.epoch)
      deliver(block, i), i = 0;
    else
      ++i;
  if (!faults.acquires)
    block.cache.clear();
}

/// Issues a transfer. Executes a fence first: the network reads memory, so the data must have arrived there.
void Gpu::put(uint32_t block, uint32_t thread, Transfer transfer) {
  fence(block, thread);
  transfer.grid = gridOfBlock[block];
  transfers.push_back(transfer);
  ++changes;
}

bool Gpu::transferSome() {
  if (transfers.empty())
    return false;
  ++changes;
  const size_t index = random.below(transfers.size());
  Transfer &transfer = transfers[index];
  if (transfer.done != transfer.bytes) {
    const uint64_t some = 1 + random.below(transfer.bytes - transfer.done);
    std::memcpy(transfer.to + transfer.done, transfer.from + transfer.done, some);
    transfer.done += some;
    return true;
  }
  *transfer.signal += transfer.add;
  transfers.erase(transfers.begin() + static_cast<ptrdiff_t>(index));
  return true;
}

} // namespace gc3::test
