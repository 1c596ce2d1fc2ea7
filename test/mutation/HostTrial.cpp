// SPDX-License-Identifier: Apache-2.0
// Drives host::Run as host::Call does, but with memory that is poisoned before each run, and with orders of its own.
#include "HostTrial.h"
#include "host/Executor.h"
#include "host/Random.h"
#include <algorithm>
#include <cstring>
#include <numeric>

using namespace gc3;
using namespace gc3::mutation;
using gc3::bundle::fbs::Alias;

std::unique_ptr<HostTrial> HostTrial::load(const std::string &bytes) {
  auto trial = std::make_unique<HostTrial>();
  if (!bundle::BundleFile::openMemory(bytes.data(), bytes.size(), trial->file).ok() ||
      !host::Program::load(*trial->file, 0, trial->program).ok())
    return nullptr;
  trial->transfers = std::make_unique<host::Transfers>(*trial->program);
  return trial;
}

host::Layout HostTrial::layout(uint64_t count) const {
  host::Layout layout;
  layout.compute(*program, count, sizeof(Element), {});
  return layout;
}

std::vector<Held> HostTrial::stepsOf(uint32_t rank) const {
  std::vector<Held> result;
  for (uint32_t block = program->firstThreadBlock(rank); block != program->firstThreadBlock(rank + 1); ++block) {
    uint32_t local = block - program->firstThreadBlock(rank);
    for (uint32_t step = 0; step != program->rank(rank).threadBlocks[local].instruction_count(); ++step)
      result.push_back({block, step});
  }
  return result;
}

/// The buffers of all ranks. Where an alias puts one buffer into the other, only the outer one is there.
struct HostTrial::Memory {
  std::vector<std::vector<Element>> input, output;
  host::Memory fifos, scratch;

  Memory(const HostTrial &trial, const host::Layout &layout, const Data &data);
  host::RankMemory of(uint32_t rank) {
    return {reinterpret_cast<std::byte *>(input[rank].data()), reinterpret_cast<std::byte *>(output[rank].data())};
  }
  bool holds(const HostTrial &trial, const host::Layout &layout, const Data::Promise &promise) const;
};

HostTrial::Memory::Memory(const HostTrial &trial, const host::Layout &layout, const Data &data) {
  Element poisoned;
  std::memset(&poisoned, poison, sizeof(Element));
  for (uint32_t rank = 0; rank != trial.ranks(); ++rank) {
    const host::RankLayout &own = layout.ranks[rank];
    input.emplace_back(own.input.elements, poisoned);
    output.emplace_back(own.output.elements, poisoned);
    std::vector<Element> &target =
        trial.program->rank(rank).alias == Alias::InputInOutput ? output.back() : input.back();
    for (uint32_t slot = 0; slot != trial.program->rank(rank).inputSlots; ++slot) {
      host::BufferLayout::Place from = own.input.at(slot);
      host::BufferLayout::Place to = layout.buffers[own.firstBuffer].at(slot);
      uint64_t elements = std::min({from.available, to.available, layout.slotElements});
      std::copy_n(data.input(rank).data() + from.offset, elements, target.data() + to.offset);
    }
  }
  fifos.reserve(layout.fifoBytes);
  scratch.reserve(layout.scratchBytes);
  std::memset(fifos.data(), poison, layout.fifoBytes);
  std::memset(scratch.data(), poison, layout.scratchBytes);
}

bool HostTrial::Memory::holds(const HostTrial &trial, const host::Layout &layout, const Data::Promise &promise) const {
  bool inside = trial.program->rank(promise.rank).alias == Alias::OutputInInput;
  const std::vector<Element> &memory = (inside ? input : output)[promise.rank];
  host::BufferLayout::Place at = layout.buffers[layout.ranks[promise.rank].firstBuffer + 1].at(promise.slot);
  return promise.elements.size() <= at.available &&
         std::equal(promise.elements.begin(), promise.elements.end(), memory.data() + at.offset);
}

template <typename Order>
Outcome HostTrial::run(const Data &data, const Conditions &conditions, Order order) {
  host::Layout layout;
  layout.compute(*program, data.count(), sizeof(Element), {conditions.slots, 0, conditions.tileElements});
  Memory memory(*this, layout, data);
  host::Run run(*program, *transfers, layout, host::reduceKernel(host::ElementType::Uint64, host::ReduceOp::Sum),
                memory.fifos.data(), memory.scratch.data());
  for (uint32_t rank = 0; rank != ranks(); ++rank) {
    run.start(rank, memory.of(rank));
    if (conditions.direct)
      run.shareMemory(rank);
  }
  if (!order(run))
    return Outcome::Stuck;
  for (const Data::Promise &promise : data.promises())
    if (!memory.holds(*this, layout, promise))
      return Outcome::Wrong;
  return Outcome::Right;
}

Outcome HostTrial::runAdversarial(const Data &data, const Conditions &conditions, uint64_t seed) {
  return run(data, conditions, [&](host::Run &run) { return host::runAdversarial(run, seed).empty(); });
}

Outcome HostTrial::runHolding(const Data &data, const Conditions &conditions, Held held, uint64_t seed) {
  return run(data, conditions, [&](host::Run &run) {
    std::span<host::ThreadBlock> blocks = run.threadBlocks();
    std::vector<uint32_t> order(blocks.size());
    std::iota(order.begin(), order.end(), 0u);
    host::Random random(seed);
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random.below(i)]);
    bool holding = true;
    auto goesOn = [&](uint32_t number) {
      const host::ThreadBlock &block = blocks[number];
      bool isHeld = holding && number == held.block && block.step == held.step && block.tile == 0;
      return !isHeld && run.blocked(block) == host::Blocked::No;
    };
    for (bool moved = true; moved || holding;) {
      holding = holding && moved;
      moved = false;
      for (uint32_t number : order)
        for (; goesOn(number); moved = true)
          run.step(blocks[number]);
    }
    return std::all_of(blocks.begin(), blocks.end(),
                       [&](const host::ThreadBlock &block) { return run.blocked(block) == host::Blocked::Finished; });
  });
}
