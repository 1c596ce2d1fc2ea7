// SPDX-License-Identifier: Apache-2.0
// Accesses are compared slot by slot. All messages of a program use FIFO slots if the analysis would be too expensive.
#include "core/Transfers.h"

#include "core/Inputs.h"
#include "gc3/Common/Opcode.h"

#include <algorithm>

namespace gc3::core {

using namespace bundle;
using namespace common;

/// Decides how each message is moved, and whether each write of a result should bypass the caches.
class MessageAnalysis {
public:
  MessageAnalysis(const Program &analysed, const HappensBefore &ofSteps, Accesses &ofProgram, Transfers &results)
      : program(analysed), order(ofSteps), accesses(ofProgram), result(results) {}

  void run() {
    for (uint32_t step = 0; step < result.allSteps.size(); ++step) {
      result.allSteps[step].receiver = order.receiver(step);
      result.allSteps[step].sender = order.sender(step);
    }
    decideFetches();
    decideStores();
    findLastWrites();
  }

private:
  Opcode opcode(uint32_t step) const { return static_cast<Opcode>(program.instruction(step).opcode()); }
  const OpcodeTraits &needs(uint32_t step) const { return traits(opcode(step)); }

  /// A message can be fetched if each write to its source ends before the send or begins after the receive. A staged
  /// source can always be fetched: its copy is not overwritten before all readers have read it (Run::stagingWaitsFor).
  void decideFetches() {
    for (uint32_t step = 0; step < result.allSteps.size(); ++step) {
      uint32_t receiver = result.allSteps[step].receiver;
      if (receiver == Transfers::none || opcode(step) == Opcode::RecvReduceSend)
        continue;
      if (result.allSteps[step].staged != Transfers::none && !needs(step).writesDst) {
        setTransfer(step, Transfer::Fetch);
        continue;
      }
      if (accesses.allOf(program.rankOfStep(step), accesses.sent(step), [&](const Access &access) {
            return !access.writes || access.step == step || accesses.before(access.step, step) ||
                   accesses.before(receiver, access.step);
          }))
        setTransfer(step, Transfer::Fetch);
    }
  }

  /// A message can be stored if each access to its destination begins after the receive or ends before the send. If
  /// another rank fetches from the destination, that read ends when the fetching step ends. The fetching step can be
  /// this send itself, because it reads each element before it writes it. Staged slots in the destination have been
  /// copied when the receiving rank has completed any step of the tile.
  void decideStores() {
    for (uint32_t step = 0; step < result.allSteps.size(); ++step) {
      uint32_t receiver = result.allSteps[step].receiver;
      if (receiver == Transfers::none || (opcode(receiver) != Opcode::Recv && opcode(receiver) != Opcode::RecvCopySend))
        continue;
      const uint32_t rank = program.rankOfStep(receiver);
      SlotRange to = accesses.target(receiver);
      auto over = [&](const Access &access) {
        const Transfers::StepTransfer &other = result.allSteps[access.step];
        if (!accesses.before(access.step, step))
          return false;
        if (other.out != Transfer::Fetch)
          return true;
        return accesses.before(other.receiver, step) || (other.receiver == step && accesses.sent(access.step) == to);
      };
      if (accesses.allOf(rank, to,
                         [&](const Access &access) {
                           return access.step == receiver || accesses.before(receiver, access.step) || over(access);
                         }) &&
          (!touchesStaged(rank, to) || order.hasBegunBefore(rank, step)))
        setTransfer(step, Transfer::Store);
    }
  }

  void setTransfer(uint32_t step, Transfer transfer) {
    result.allSteps[step].out = transfer;
    result.allSteps[result.allSteps[step].receiver].in = transfer;
    result.anyDirect = true;
  }

  bool touchesStaged(uint32_t rank, SlotRange where) const {
    const Transfers::Staged *staged = result.staged(rank);
    const uint32_t input = accesses.input(rank).begin;
    return staged && std::any_of(staged->runs.begin(), staged->runs.end(), [&](const SlotRange &run) {
             return input + run.begin < where.begin + where.count && where.begin < input + run.begin + run.count;
           });
  }

  void findLastWrites() {
    for (uint32_t step = 0; step < result.allSteps.size(); ++step) {
      Transfers::StepTransfer &own = result.allSteps[step];
      if (own.out == Transfer::Store)
        own.warmStore = warmStore(step);
      if (!needs(step).writesDst)
        continue;
      const uint32_t rank = program.rankOfStep(step);
      const SlotRange target = accesses.target(step);
      own.lastWrite = own.out != Transfer::Fetch && accesses.allOf(rank, target, [&](const Access &access) {
        return access.writes || access.step == step || accesses.before(access.step, step);
      });
      own.warmTarget.first = opcode(step) == Opcode::Reduce || touchesStaged(rank, target) ||
                             !accesses.allOf(rank, target, [&](const Access &access) {
                               return access.writes || (access.step != step && !accesses.before(access.step, step));
                             });
      own.warmTarget.second = !accesses.allOf(
          rank, target, [&](const Access &access) { return !access.writes || !accesses.before(access.step, step); });
    }
  }

  Transfers::StepTransfer::Warm warmStore(uint32_t step) const {
    const uint32_t receiver = result.allSteps[step].receiver, rank = program.rankOfStep(step);
    Transfers::StepTransfer::Warm warm;
    for (const std::vector<Access> &ofSlot : accesses.of(program.rankOfStep(receiver), accesses.target(receiver)))
      for (const Access &access : ofSlot) {
        const Transfers::StepTransfer &other = result.allSteps[access.step];
        if (other.out != Transfer::Fetch || program.rankOfStep(other.receiver) != rank)
          continue;
        warm.first = true;
        warm.second |= needs(access.step).writesDst;
      }
    return warm;
  }

  const Program &program;
  const HappensBefore &order;
  Accesses &accesses;
  Transfers &result;
};

Transfers Transfers::asWritten(const Program &program, const HappensBefore &order) {
  Transfers result(program);
  if (!order.known() || !Accesses::affordable(program))
    return result;
  std::vector<Overlap> overlaps;
  for (uint32_t r = 0; r < program.ranks(); ++r)
    overlaps.push_back({program.rank(r).alias, program.rank(r).aliasOffset});
  Accesses accesses(program, order, overlaps);
  MessageAnalysis(program, order, accesses, result).run();
  InputAnalysis(program, accesses, result).separate();
  return result;
}

Transfers Transfers::inPlace(const Program &program, const HappensBefore &order,
                             const common::StandardCollective &standard) {
  Transfers result(program);
  if (!order.known() || !Accesses::affordable(program))
    return result;
  std::vector<Overlap> overlaps;
  const uint64_t slotsPerBlock = uint64_t{program.info().input_chunks_per_block()} * program.info().subdivision();
  for (uint32_t r = 0; r < program.ranks(); ++r) {
    const RankView &view = program.rank(r);
    Overlap overlap{view.alias, view.aliasOffset};
    if (view.alias == fbs::Alias::None && view.inputSlots != 0 && view.outputSlots != 0) {
      // Input and output have the same number of slots per block, because the collective is `standard`.
      const int64_t outputAt = standard.inPlaceOffset(r, slotsPerBlock); // slot of the input where the output begins
      overlap = view.inputSlots > view.outputSlots
                    ? Overlap{fbs::Alias::OutputInInput, static_cast<uint32_t>(outputAt)}
                    : Overlap{fbs::Alias::InputInOutput, static_cast<uint32_t>(-outputAt)};
    }
    overlaps.push_back(overlap);
  }
  Accesses accesses(program, order, overlaps);
  InputAnalysis(program, accesses, result).stage();
  MessageAnalysis(program, order, accesses, result).run();
  return result;
}

} // namespace gc3::core
