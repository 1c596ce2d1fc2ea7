// SPDX-License-Identifier: Apache-2.0
// Runs the program once without data, with as many slots as it likes, and gives every step a vector clock: how many
// steps of each thread block are over when it is. What the clocks order is ordered in every execution, since they
// follow only program order, waits and messages. Accesses are then compared slot by slot. Tiles of a slot are disjoint,
// so one tile speaks for all. Clocks take (steps x thread blocks); programs for which that is too much keep using
// slots.
#include "host/Transfers.h"

#include "bundle/Opcode.h"

#include <algorithm>

namespace gc3::host {

using namespace bundle;

namespace {
constexpr uint64_t mostClockEntries = 1 << 22;
constexpr uint64_t mostSlots = 1 << 20;    // of all buffers
constexpr uint64_t mostAccesses = 1 << 22; // of single slots
constexpr uint64_t mostComparisons = 1 << 24;
} // namespace

class TransferAnalysis {
public:
  TransferAnalysis(const Program &analysed, Transfers &results) : program(analysed), result(results) {}

  void run() {
    number();
    if (!affordable() || !execute())
      return;
    collectAccesses();
    decideFetches();
    decideStores();
    findLastWrites();
    for (uint32_t r = 0; r < program.ranks(); ++r)
      separate(r);
  }

private:
  /// A range of slots of one rank, aliases resolved.
  struct Range {
    uint32_t begin = 0, count = 0;
    bool operator==(const Range &) const = default;
  };
  struct Access {
    uint32_t step;
    bool writes;
  };

  const fbs::Instruction &instruction(uint32_t step) const {
    uint32_t rank = result.ranks[step];
    return program.rank(rank).instructions[step - result.first[rank]];
  }
  const OpcodeTraits &needs(uint32_t step) const { return traits(static_cast<Opcode>(instruction(step).opcode())); }
  Opcode opcode(uint32_t step) const { return static_cast<Opcode>(instruction(step).opcode()); }

  void number() {
    result.first.assign(1, 0);
    for (uint32_t r = 0; r < program.ranks(); ++r) {
      auto count = static_cast<uint32_t>(program.rank(r).instructions.size());
      result.first.push_back(result.first.back() + count);
      result.ranks.resize(result.first.back(), r);
    }
    result.allSteps.resize(result.first.back());
    result.separableRank.assign(program.ranks(), false);
    result.untouchedSlots.resize(program.ranks());
  }

  bool affordable() const {
    uint64_t slots = 0, touched = 0;
    for (uint32_t r = 0; r < program.ranks(); ++r) {
      const RankView &view = program.rank(r);
      slots += uint64_t{view.inputSlots} + view.outputSlots;
      for (uint32_t scratch : view.scratchSlots)
        slots += scratch;
      for (const fbs::Instruction &inst : view.instructions)
        touched += uint64_t{2} * inst.count();
    }
    return uint64_t{result.allSteps.size()} * program.threadBlockCount() <= mostClockEntries && slots <= mostSlots &&
           touched <= mostAccesses;
  }

  /// False where the program comes to a stop.
  bool execute() {
    blocks = program.threadBlockCount();
    clocks.assign(result.allSteps.size() * size_t{blocks}, 0);
    place.resize(result.allSteps.size());
    std::vector<uint32_t> next(blocks, 0);
    std::vector<std::vector<uint32_t>> inFlight(program.connections().size()); // sending steps, in order
    std::vector<uint32_t> taken(program.connections().size(), 0);
    uint64_t left = 0;
    for (uint32_t r = 0; r < program.ranks(); ++r)
      for (const fbs::ThreadBlock &block : program.rank(r).threadBlocks)
        left += block.instruction_count();
    for (bool progress = true; progress && left != 0;) {
      progress = false;
      for (uint32_t r = 0; r < program.ranks(); ++r)
        for (uint32_t tb = program.firstThreadBlock(r); tb < program.firstThreadBlock(r + 1); ++tb) {
          const fbs::ThreadBlock &block = program.rank(r).threadBlocks[tb - program.firstThreadBlock(r)];
          for (; next[tb] < block.instruction_count(); ++next[tb], --left, progress = true)
            if (!executeStep(r, tb, next, inFlight, taken))
              break;
        }
    }
    return left == 0;
  }

  bool executeStep(uint32_t rank, uint32_t tb, const std::vector<uint32_t> &next,
                   std::vector<std::vector<uint32_t>> &inFlight, std::vector<uint32_t> &taken) {
    const RankView &view = program.rank(rank);
    uint32_t firstBlock = program.firstThreadBlock(rank);
    auto stepOf = [&](uint32_t local, uint32_t position) {
      return result.first[rank] + view.threadBlocks[local].first_instruction() + position;
    };
    uint32_t step = stepOf(tb - firstBlock, next[tb]);
    const fbs::Instruction &inst = instruction(step);
    auto waits = view.waits.subspan(inst.wait_begin(), inst.wait_count());
    for (const fbs::Wait &wait : waits)
      if (next[firstBlock + wait.thread_block()] <= wait.step())
        return false;
    uint32_t incoming = program.incoming(tb);
    if (needs(step).receives && taken[incoming] == inFlight[incoming].size())
      return false;

    place[step] = {tb, next[tb]};
    if (next[tb] != 0)
      join(step, stepOf(tb - firstBlock, next[tb] - 1));
    for (const fbs::Wait &wait : waits)
      join(step, stepOf(wait.thread_block(), wait.step()));
    if (needs(step).receives) {
      uint32_t sender = inFlight[incoming][taken[incoming]++];
      join(step, sender);
      result.allSteps[step].sender = sender;
      result.allSteps[sender].receiver = step;
    }
    clocks[size_t{step} * blocks + tb] = next[tb] + 1;
    if (needs(step).sends)
      inFlight[program.outgoing(tb)].push_back(step);
    return true;
  }

  void join(uint32_t step, uint32_t earlier) {
    uint32_t *to = &clocks[size_t{step} * blocks];
    const uint32_t *from = &clocks[size_t{earlier} * blocks];
    for (uint32_t i = 0; i < blocks; ++i)
      to[i] = std::max(to[i], from[i]);
  }

  /// Whether `a` is over when `b` begins, in every execution. When the budget is spent nothing is known any more, which
  /// leaves messages in slots.
  bool before(uint32_t a, uint32_t b) {
    if (++comparisons > mostComparisons)
      return false;
    return a != b && clocks[size_t{b} * blocks + place[a].threadBlock] > place[a].position;
  }

  Range range(uint32_t rank, uint32_t buffer, uint32_t index, uint32_t count) const {
    return {bufferBegin[rank][buffer] + index, count};
  }
  Range source(uint32_t step) const {
    const fbs::Instruction &inst = instruction(step);
    return range(result.ranks[step], inst.src_buffer(), inst.src_index(), inst.count());
  }
  Range target(uint32_t step) const {
    const fbs::Instruction &inst = instruction(step);
    return range(result.ranks[step], inst.dst_buffer(), inst.dst_index(), inst.count());
  }
  /// Where a sending step has what it sends.
  Range sent(uint32_t step) const { return needs(step).writes ? target(step) : source(step); }

  void collectAccesses() {
    bufferBegin.resize(program.ranks());
    accesses.resize(program.ranks());
    for (uint32_t r = 0; r < program.ranks(); ++r) {
      const RankView &view = program.rank(r);
      uint32_t input = 0, output = view.inputSlots, end = view.inputSlots + view.outputSlots;
      if (view.alias == fbs::Alias::InputInOutput)
        input = output + view.aliasOffset;
      else if (view.alias == fbs::Alias::OutputInInput)
        output = input + view.aliasOffset;
      bufferBegin[r] = {input, output};
      for (uint32_t slots : view.scratchSlots) {
        bufferBegin[r].push_back(end);
        end += slots;
      }
      accesses[r].resize(end);
      for (uint32_t step = result.first[r]; step < result.first[r + 1]; ++step) {
        if (needs(step).reads)
          note(r, source(step), {step, false});
        if (needs(step).writes)
          note(r, target(step), {step, true});
      }
    }
  }
  void note(uint32_t rank, Range where, Access access) {
    for (uint32_t s = where.begin; s < where.begin + where.count; ++s)
      accesses[rank][s].push_back(access);
  }

  template <typename Predicate>
  bool allOf(uint32_t rank, Range where, Predicate predicate) const {
    return std::all_of(
        accesses[rank].begin() + where.begin, accesses[rank].begin() + where.begin + where.count,
        [&](const std::vector<Access> &ofSlot) { return std::all_of(ofSlot.begin(), ofSlot.end(), predicate); });
  }

  /// A message may be fetched if what is written to its source is over before the send, or begins after the receive.
  void decideFetches() {
    for (uint32_t step = 0; step < result.allSteps.size(); ++step) {
      uint32_t receiver = result.allSteps[step].receiver;
      if (receiver == Transfers::none || opcode(step) == Opcode::RecvReduceSend)
        continue;
      if (allOf(result.ranks[step], sent(step), [&](const Access &access) {
            return !access.writes || access.step == step || before(access.step, step) || before(receiver, access.step);
          }))
        setTransfer(step, Transfer::Fetch);
    }
  }

  /// A message may be stored if each access to its destination begins after the receive or is over before the send. A
  /// read by whoever fetches from there is over when the fetching step is, and may be the send itself, which goes
  /// through both element by element.
  void decideStores() {
    for (uint32_t step = 0; step < result.allSteps.size(); ++step) {
      uint32_t receiver = result.allSteps[step].receiver;
      if (receiver == Transfers::none || (opcode(receiver) != Opcode::Recv && opcode(receiver) != Opcode::RecvCopySend))
        continue;
      Range to = target(receiver);
      auto over = [&](const Access &access) {
        const Transfers::Step &other = result.allSteps[access.step];
        if (!before(access.step, step))
          return false;
        if (other.out != Transfer::Fetch)
          return true;
        return before(other.receiver, step) || (other.receiver == step && sent(access.step) == to);
      };
      if (allOf(result.ranks[receiver], to, [&](const Access &access) {
            return access.step == receiver || before(receiver, access.step) || over(access);
          }))
        setTransfer(step, Transfer::Store);
    }
  }

  void setTransfer(uint32_t step, Transfer transfer) {
    result.allSteps[step].out = transfer;
    result.allSteps[result.allSteps[step].receiver].in = transfer;
    result.anyDirect = true;
  }

  /// What decides whether a result is better written past the caches.
  void findLastWrites() {
    for (uint32_t step = 0; step < result.allSteps.size(); ++step) {
      Transfers::Step &own = result.allSteps[step];
      if (own.out == Transfer::Store)
        own.warmStore = warmStore(step);
      if (!needs(step).writes)
        continue;
      const uint32_t rank = result.ranks[step];
      own.lastWrite = own.out != Transfer::Fetch && allOf(rank, target(step), [&](const Access &access) {
                        return access.writes || access.step == step || before(access.step, step);
                      });
      own.warmTarget.first = opcode(step) == Opcode::Reduce || !allOf(rank, target(step), [&](const Access &access) {
                               return access.writes || (access.step != step && !before(access.step, step));
                             });
      own.warmTarget.second = !allOf(
          rank, target(step), [&](const Access &access) { return !access.writes || !before(access.step, step); });
    }
  }

  Transfers::Step::Warm warmStore(uint32_t step) const {
    const uint32_t receiver = result.allSteps[step].receiver, rank = result.ranks[step];
    Transfers::Step::Warm warm;
    for (const std::vector<Access> &ofSlot :
         std::span(accesses[result.ranks[receiver]]).subspan(target(receiver).begin, target(receiver).count))
      for (const Access &access : ofSlot) {
        const Transfers::Step &other = result.allSteps[access.step];
        if (other.out != Transfer::Fetch || result.ranks[other.receiver] != rank)
          continue;
        warm.first = true;
        warm.second |= needs(access.step).writes;
      }
    return warm;
  }

  /// What a read of a range of the input finds.
  enum class Finds : uint8_t { Initial, Written, Unclear };
  Finds finds(uint32_t rank, Range where, uint32_t reader) {
    bool initial = allOf(rank, where, [&](const Access &access) {
      return !access.writes || access.step == reader || before(reader, access.step);
    });
    if (initial)
      return Finds::Initial;
    auto written = [&](const std::vector<Access> &ofSlot) {
      return std::any_of(ofSlot.begin(), ofSlot.end(),
                         [&](const Access &access) { return access.writes && before(access.step, reader); });
    };
    const auto begin = accesses[rank].begin() + where.begin;
    return std::all_of(begin, begin + where.count, written) ? Finds::Written : Finds::Unclear;
  }

  void separate(uint32_t rank) {
    const RankView &view = program.rank(rank);
    if (view.alias != fbs::Alias::InputInOutput)
      return;
    const Range input{bufferBegin[rank][inputBuffer], view.inputSlots};
    auto look = [&](Range where, uint32_t step, bool &initial) {
      if (where.begin + where.count <= input.begin || where.begin >= input.begin + input.count)
        return true;
      Finds found = finds(rank, where, step);
      initial = found == Finds::Initial;
      bool inside = where.begin >= input.begin && where.begin + where.count <= input.begin + input.count;
      return found == Finds::Written || (initial && inside);
    };
    for (uint32_t step = result.first[rank]; step < result.first[rank + 1]; ++step) {
      Transfers::Step &own = result.allSteps[step];
      if (needs(step).reads && !look(source(step), step, own.initialSource))
        return;
      if (opcode(step) == Opcode::Reduce && !look(target(step), step, own.initialTarget))
        return;
    }
    result.separableRank[rank] = true;
    for (uint32_t slot = 0; slot < input.count; ++slot) {
      auto &runs = result.untouchedSlots[rank];
      if (!allOf(rank, {input.begin + slot, 1}, [](const Access &access) { return !access.writes; }))
        continue;
      if (!runs.empty() && runs.back().begin + runs.back().count == slot)
        ++runs.back().count;
      else
        runs.push_back({slot, 1});
    }
  }

  struct Place {
    uint32_t threadBlock, position;
  };
  const Program &program;
  Transfers &result;
  uint32_t blocks = 0;
  std::vector<uint32_t> clocks;                           ///< by step, then thread block
  std::vector<Place> place;                               ///< by step
  std::vector<std::vector<uint32_t>> bufferBegin;         ///< by rank, then buffer: its first slot
  std::vector<std::vector<std::vector<Access>>> accesses; ///< by rank, then slot
  uint64_t comparisons = 0;
};

Transfers::Transfers(const Program &program) {
  TransferAnalysis(program, *this).run();
}

} // namespace gc3::host
