// SPDX-License-Identifier: Apache-2.0
// Drives host::Run as host::PreparedCall does, but fills the memory before each run, and runs steps in other orders.
#include "HostTrial.h"
#include "gc3/Common/Opcode.h"
#include "host/Executor.h"
#include "host/Random.h"
#include <algorithm>
#include <numeric>

using namespace gc3;
using namespace gc3::mutation;
using gc3::bundle::fbs::Alias;

std::unique_ptr<HostTrial> HostTrial::load(const std::string &bytes) {
  auto trial = std::make_unique<HostTrial>();
  if (!bundle::BundleFile::openMemory(bytes.data(), bytes.size()).moveTo(trial->file).ok() ||
      !core::Program::load(*trial->file, 0).moveTo(trial->loaded.program).ok())
    return nullptr;
  trial->loaded.analyse();
  return trial;
}

core::Layout HostTrial::layout(uint64_t count) const {
  core::Layout layout;
  layout.compute(program(), count, sizeof(Element), {});
  return layout;
}

std::vector<Held> HostTrial::stepsOf(uint32_t rank) const {
  std::vector<Held> result;
  for (uint32_t block = 0; block != program().rank(rank).threadBlocks.size(); ++block)
    for (uint32_t step = 0; step != program().rank(rank).threadBlocks[block].instruction_count(); ++step)
      result.push_back(stepAt(rank, block, step));
  return result;
}

/// A run and its memory. If an alias puts one buffer of a rank inside the other, the run uses only the outer buffer.
class HostTrial::Session {
public:
  Session(const HostTrial &trial, const Data &data, const Conditions &conditions);

  host::Run &run() { return *interpreter; }
  /// Runs all thread blocks in turn until none can continue. If `held` is not null, that step does not begin its first
  /// tile.
  void runUntilBlocked(const std::vector<uint32_t> &order, const Held *held);
  bool finished();
  bool holds(const Data::Promise &promise) const;
  Memory memory() const;
  /// Returns true if some slot of the range still has its initial value in its first element.
  bool unwritten(uint32_t rank, uint8_t buffer, uint32_t index, uint32_t count) const;

private:
  void fill(const Data &data, uint32_t rank);
  const Element *base(uint32_t rank, uint8_t buffer) const;

  const HostTrial &trial;
  Element before;
  core::Layout layout;
  std::vector<std::vector<Element>> input, output;
  host::Memory fifos, scratch;
  std::optional<host::Run> interpreter;
};

HostTrial::Session::Session(const HostTrial &trial, const Data &data, const Conditions &conditions)
    : trial(trial), before(conditions.before) {
  layout.compute(trial.program(), data.count(), sizeof(Element), {conditions.slots, 0, conditions.tileElements});
  auto reserve = [&](host::Memory &memory, size_t zeros, size_t bytes) {
    memory.reserve(zeros + bytes);
    std::fill_n(reinterpret_cast<Element *>(memory.data() + zeros), bytes / sizeof(Element), before);
  };
  reserve(fifos, host::Run::fifoHeadBytes(trial.program()), layout.fifoBytes);
  reserve(scratch, 0, layout.scratchBytes);
  interpreter.emplace(trial.loaded, layout, host::reduceKernel(core::ElementType::Uint64, core::ReduceOp::Sum),
                      fifos.data(), scratch.data());
  for (uint32_t rank = 0; rank != trial.ranks(); ++rank) {
    fill(data, rank);
    interpreter->start(
        rank, {reinterpret_cast<std::byte *>(input[rank].data()), reinterpret_cast<std::byte *>(output[rank].data())});
    if (conditions.direct)
      interpreter->shareMemory(rank, host::Sharing::AsWritten);
  }
}

void HostTrial::Session::fill(const Data &data, uint32_t rank) {
  const core::RankLayout &own = layout.ranks[rank];
  input.emplace_back(own.input.elements, before);
  output.emplace_back(own.output.elements, before);
  std::vector<Element> &target =
      trial.program().rank(rank).alias == Alias::InputInOutput ? output.back() : input.back();
  for (uint32_t slot = 0; slot != trial.program().rank(rank).inputSlots; ++slot) {
    core::BufferLayout::Position from = own.input.at(slot);
    core::BufferLayout::Position to = layout.buffers[own.firstBuffer].at(slot);
    uint64_t elements = std::min({from.available, to.available, layout.slotElements});
    std::copy_n(data.input(rank).data() + from.offset, elements, target.data() + to.offset);
  }
}

void HostTrial::Session::runUntilBlocked(const std::vector<uint32_t> &order, const Held *held) {
  std::span<host::ThreadBlockState> blocks = run().threadBlocks();
  auto goesOn = [&](uint32_t number) {
    const host::ThreadBlockState &block = blocks[number];
    bool stops = held && number == held->block && block.step == held->step && block.tile == 0;
    return !stops && run().blocked(block) == host::Blocked::No;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t number : order)
      for (; goesOn(number); moved = true)
        run().step(blocks[number]);
  }
}

bool HostTrial::Session::finished() {
  std::span<host::ThreadBlockState> blocks = run().threadBlocks();
  return std::all_of(blocks.begin(), blocks.end(), [&](const host::ThreadBlockState &block) {
    return run().blocked(block) == host::Blocked::Finished;
  });
}

/// Returns the address of a buffer. For an aliased buffer, returns the address of the buffer that contains it.
const Element *HostTrial::Session::base(uint32_t rank, uint8_t buffer) const {
  const bundle::RankView &view = trial.program().rank(rank);
  if (buffer == common::inputBuffer || (buffer == common::outputBuffer && view.alias == Alias::OutputInInput))
    return view.alias == Alias::InputInOutput ? output[rank].data() : input[rank].data();
  if (buffer == common::outputBuffer)
    return output[rank].data();
  const std::byte *at = scratch.data();
  for (uint32_t r = 0; r != rank; ++r)
    at += layout.ranks[r].scratchBytes;
  for (uint8_t other = common::firstScratchBuffer; other != buffer; ++other)
    at += host::wholeCacheLines(layout.buffers[layout.ranks[rank].firstBuffer + other].elements * sizeof(Element));
  return reinterpret_cast<const Element *>(at);
}

bool HostTrial::Session::unwritten(uint32_t rank, uint8_t buffer, uint32_t index, uint32_t count) const {
  const core::BufferLayout &slots = layout.buffers[layout.ranks[rank].firstBuffer + buffer];
  for (uint32_t slot = index; slot != index + count; ++slot)
    if (base(rank, buffer)[slots.at(slot).offset] == before)
      return true;
  return false;
}

bool HostTrial::Session::holds(const Data::Promise &promise) const {
  const core::RankLayout &own = layout.ranks[promise.rank];
  core::BufferLayout::Position at = layout.buffers[own.firstBuffer + common::outputBuffer].at(promise.slot);
  return promise.elements.size() <= at.available && std::equal(promise.elements.begin(), promise.elements.end(),
                                                               base(promise.rank, common::outputBuffer) + at.offset);
}

Memory HostTrial::Session::memory() const {
  Memory memory{before, {}};
  auto add = [&](const Element *first, size_t count) {
    memory.elements.insert(memory.elements.end(), first, first + count);
  };
  for (size_t rank = 0; rank != input.size(); ++rank) {
    add(input[rank].data(), input[rank].size());
    add(output[rank].data(), output[rank].size());
  }
  add(reinterpret_cast<const Element *>(scratch.data()), layout.scratchBytes / sizeof(Element));
  return memory;
}

bool Memory::agrees(const Memory &other) const {
  auto same = [&](Element a, Element b) { return a == b || (a == before && b == other.before); };
  return std::equal(elements.begin(), elements.end(), other.elements.begin(), other.elements.end(), same);
}

/// Runs a session in the order of `order`, a function that returns true if all steps have finished.
template <typename Order>
Outcome HostTrial::runToEnd(const Data &data, const Conditions &conditions, Order order) {
  Session session(*this, data, conditions);
  if (!order(session))
    return Outcome::Stuck;
  left = session.memory();
  bool right = std::all_of(data.promises().begin(), data.promises().end(),
                           [&](const Data::Promise &promise) { return session.holds(promise); });
  return right ? Outcome::Right : Outcome::Wrong;
}

Outcome HostTrial::runAdversarial(const Data &data, const Conditions &conditions, uint64_t seed) {
  return runToEnd(data, conditions, [&](Session &session) {
    std::vector<uint32_t> ranks(loaded.program->ranks());
    std::iota(ranks.begin(), ranks.end(), 0);
    return host::runAdversarial(session.run(), ranks, seed, [] { return false; });
  });
}

std::vector<uint32_t> HostTrial::allBlocks() const {
  std::vector<uint32_t> order(program().threadBlockCount());
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

Outcome HostTrial::runHolding(const Data &data, const Conditions &conditions, Held held, uint64_t seed) {
  return runToEnd(data, conditions, [&](Session &session) {
    std::vector<uint32_t> order = allBlocks();
    host::Random random(seed);
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random.below(i)]);
    session.runUntilBlocked(order, &held);
    session.runUntilBlocked(order, nullptr);
    return session.finished();
  });
}

/// Returns conditions with more slots than messages.
static Conditions unbounded(const core::Transfers &transfers) {
  return {static_cast<uint32_t>(transfers.steps().size()) + 1, 1, false};
}

bool HostTrial::canPrecede(const Data &data, Held first, Held second) {
  Session session(*this, data, unbounded(*loaded.asWritten));
  session.runUntilBlocked(allBlocks(), &second);
  return session.run().threadBlocks()[first.block].finishedSteps > first.step;
}

bool HostTrial::readsUnwritten(const Data &data, Held step) {
  Session session(*this, data, unbounded(*loaded.asWritten));
  session.runUntilBlocked(allBlocks(), &step);
  const host::ThreadBlockState &block = session.run().threadBlocks()[step.block];
  const bundle::fbs::Instruction &inst = block.instructions[step.step];
  bool source = common::traits(static_cast<common::Opcode>(inst.opcode())).readsSrc &&
                session.unwritten(block.rank, inst.src_buffer(), inst.src_index(), inst.count());
  bool target = static_cast<common::Opcode>(inst.opcode()) == common::Opcode::Reduce &&
                session.unwritten(block.rank, inst.dst_buffer(), inst.dst_index(), inst.count());
  return block.step == step.step && (source || target);
}
