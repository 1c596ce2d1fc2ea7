// SPDX-License-Identifier: Apache-2.0
// Executes the program once on symbolic values: the initial contents of slots, and sums of them. Then chooses the steps
// that use the switch, and removes the data of all steps whose values are no longer needed.
//
// The order of steps that holds in every execution (HappensBefore) shows that the switch loads and stores at the right
// time. For a load:
//   - no step overwrites the slot of any output before the load, except steps that only compute operands of the loading
//     step. These no longer move data
//   - all ranks of the team have begun before the load, and do not end before it
// For a store: each other rank has a step that would store the same value in its output. No other step of that rank
// accesses the slot between the store and that step.
#include "plan/SwitchSteps.h"

#include "core/Accesses.h"
#include "gc3/Common/Opcode.h"

#include <algorithm>
#include <map>

namespace gc3::plan {

using namespace bundle;
using namespace common;
using core::Access;
using core::Accesses;
using core::SlotRange;

namespace {

constexpr uint32_t none = core::HappensBefore::none;
using Value = uint32_t;

/// The values of slots. A value is the sum of the initial contents of some slots, or unknown. Equal sums have equal
/// numbers. Slots are numbered over all ranks, and the number of a slot is also the number of its initial contents.
class Values {
public:
  Values(uint32_t slots, size_t mostOperands) : slots(slots), most(mostOperands) {}

  Value sum(Value a, Value b) {
    std::vector<uint32_t> operands, ofA = operandsOf(a), ofB = operandsOf(b);
    if (ofA.empty() || ofB.empty() || ofA.size() + ofB.size() > most)
      return add({});
    std::merge(ofA.begin(), ofA.end(), ofB.begin(), ofB.end(), std::back_inserter(operands));
    const auto [known, isNew] = numbers.try_emplace(operands, slots + static_cast<uint32_t>(sums.size()));
    return isNew ? add(std::move(operands)) : known->second;
  }

  /// Returns the slots whose initial contents the value adds, in ascending order; empty if the value is unknown.
  std::vector<uint32_t> operandsOf(Value value) const {
    return value < slots ? std::vector{value} : sums[value - slots];
  }

private:
  Value add(std::vector<uint32_t> operands) {
    sums.push_back(std::move(operands));
    return slots + static_cast<uint32_t>(sums.size()) - 1;
  }

  const uint32_t slots;
  const size_t most;
  std::vector<std::vector<uint32_t>> sums;
  std::map<std::vector<uint32_t>, Value> numbers;
};

std::vector<core::Overlap> overlapsOf(const core::Program &program) {
  std::vector<core::Overlap> overlaps;
  for (uint32_t r = 0; r < program.ranks(); ++r)
    overlaps.push_back({program.rank(r).alias, program.rank(r).aliasOffset});
  return overlaps;
}

/// Returns for each rank the number of its first slot, and then the number of all slots.
std::vector<uint32_t> firstSlots(const core::Program &program, const Accesses &accesses) {
  std::vector<uint32_t> first{0};
  for (uint32_t r = 0; r < program.ranks(); ++r)
    first.push_back(first.back() + accesses.slots(r));
  return first;
}

} // namespace

class SwitchAnalysis {
public:
  SwitchAnalysis(const core::Program &program, const core::HappensBefore &order, std::span<const uint32_t> teams)
      : program(program), order(order), accesses(program, order, overlapsOf(program)),
        first(firstSlots(program, accesses)), values(first.back(), teams.size()),
        results(program.firstStep(program.ranks())), remains(results.size()), steps(results.size()) {
    std::map<uint32_t, std::vector<uint32_t>> byTeam;
    for (uint32_t r = 0; r < program.ranks(); ++r)
      byTeam[teams[r]].push_back(r);
    for (uint32_t r = 0; r < program.ranks(); ++r)
      members.push_back(byTeam[teams[r]]);
  }

  std::vector<SwitchSteps::Step> run() {
    execute();
    findRemaining();
    chooseLoads();
    for (const uint32_t step : order.sequence())
      chooseStore(step);
    removeData();
    const bool any = std::any_of(steps.begin(), steps.end(), [](const SwitchSteps::Step &step) {
      return step.data == SwitchSteps::Data::Reduced || step.data == SwitchSteps::Data::Shared;
    });
    return any ? std::move(steps) : std::vector<SwitchSteps::Step>();
  }

private:
  using Data = SwitchSteps::Data;
  /// The result of a step: a value for each slot, the earlier steps of the rank that wrote its operands, and the later
  /// ones that read its target.
  struct Result {
    std::vector<Value> values;
    std::vector<uint32_t> writers, readers;
  };
  /// The contents of a slot, and the step that wrote them.
  struct Contents {
    Value value;
    uint32_t writer;
  };

  Opcode opcode(uint32_t step) const { return static_cast<Opcode>(program.instruction(step).opcode()); }
  const OpcodeTraits &does(uint32_t step) const { return traits(opcode(step)); }
  uint32_t count(uint32_t step) const { return program.instruction(step).count(); }
  /// Returns slots of a rank's output.
  SlotRange outputs(uint32_t rank, uint32_t slot, uint32_t number) const {
    return {accesses.output(rank).begin + slot, number};
  }

  void execute() {
    for (uint32_t slot = 0; slot < first.back(); ++slot)
      contents.push_back({slot, none});
    for (const uint32_t step : order.sequence()) {
      results[step] = resultOf(step);
      for (const uint32_t writer : results[step].writers)
        results[writer].readers.push_back(step);
      if (!does(step).writesDst)
        continue;
      Contents *target = &contents[first[program.rankOfStep(step)] + accesses.target(step).begin];
      for (const Value value : results[step].values)
        *target++ = {value, step};
    }
  }

  /// Finds the steps whose values remain in an output.
  void findRemaining() {
    for (uint32_t r = 0; r < program.ranks(); ++r)
      for (uint32_t slot = 0; slot < accesses.output(r).count; ++slot)
        if (const uint32_t writer = contents[first[r] + outputs(r, slot, 1).begin].writer; writer != none)
          remains[writer] = true;
  }

  Result resultOf(uint32_t step) {
    Result result;
    const uint32_t base = first[program.rankOfStep(step)];
    const auto read = [&](uint32_t slot) {
      if (contents[base + slot].writer != none)
        result.writers.push_back(contents[base + slot].writer);
      return contents[base + slot].value;
    };
    for (uint32_t k = 0; k < count(step); ++k) {
      std::vector<Value> operands;
      if (does(step).receives)
        operands.push_back(results[order.sender(step)].values[k]);
      if (combinesIntoDst(opcode(step)))
        operands.push_back(read(accesses.target(step).begin + k));
      if (does(step).readsSrc)
        operands.push_back(read(accesses.source(step).begin + k));
      result.values.push_back(operands.size() == 1 ? operands[0] : values.sum(operands[0], operands[1]));
    }
    return result;
  }

  /// Returns the slot of the outputs of which a value is the sum over the ranks of a team; none if it is no such sum.
  uint32_t summedSlot(Value value, const std::vector<uint32_t> &team) const {
    const std::vector<uint32_t> operands = values.operandsOf(value);
    if (operands.size() != team.size())
      return none;
    const uint32_t slot = operands[0] - first[team[0]] - accesses.output(team[0]).begin;
    for (size_t i = 0; i < team.size(); ++i)
      if (slot >= accesses.output(team[i]).count || operands[i] != first[team[i]] + outputs(team[i], slot, 1).begin)
        return none;
    return slot;
  }

  /// Chooses the steps that load their value over the switch. Begins with all steps whose values the switch can
  /// compute. A step that may not load needs its operands, and then others may not load either. So repeats until all
  /// may load.
  void chooseLoads() {
    std::vector<uint32_t> loading;
    for (const uint32_t step : order.sequence())
      if (isSum(step))
        steps[step].data = Data::Reduced, loading.push_back(step);
    for (size_t before = loading.size() + 1; before != loading.size();) {
      before = loading.size();
      markOperands();
      std::erase_if(loading, [&](uint32_t step) {
        const std::vector<uint32_t> &team = members[program.rankOfStep(step)];
        if (std::all_of(team.begin(), team.end(), [&](uint32_t peer) { return mayLoad(step, peer); }))
          return false;
        steps[step].data = Data::Ordinary;
        return true;
      });
    }
  }

  /// Returns true if the value of a step is the sum of slots of all outputs of the team. Sets the first of these slots.
  bool isSum(uint32_t step) {
    const std::vector<uint32_t> &team = members[program.rankOfStep(step)];
    if (!does(step).reduces || team.size() < 2)
      return false;
    steps[step].from = summedSlot(results[step].values[0], team);
    for (uint32_t k = 0; k < count(step); ++k)
      if (steps[step].from == none || summedSlot(results[step].values[k], team) != steps[step].from + k)
        return false;
    return true;
  }

  /// Marks the steps whose values serve only steps that load over the switch, directly or through other such steps.
  void markOperands() {
    isUnused.assign(steps.size(), false);
    std::vector<bool> isOperand(steps.size());
    const auto needsNothing = [&](uint32_t user) { return isUnused[user] || steps[user].data == Data::Reduced; };
    const std::span<const uint32_t> sequence = order.sequence();
    for (auto at = sequence.rbegin(); at != sequence.rend(); ++at) {
      const uint32_t step = *at;
      const std::vector<uint32_t> &readers = results[step].readers;
      isUnused[step] = isOperand[step] && steps[step].data != Data::Reduced && !remains[step] &&
                       std::all_of(readers.begin(), readers.end(), needsNothing) &&
                       (!does(step).sends || needsNothing(order.receiver(step)));
      if (!needsNothing(step))
        continue;
      for (const uint32_t writer : results[step].writers)
        isOperand[writer] = true;
      if (does(step).receives)
        isOperand[order.sender(step)] = true;
    }
  }

  /// Returns true if the output of `peer` has its initial contents when `step` loads it over the switch. `step` itself
  /// may overwrite the slots that it loads, but not at other positions: its threads load and store in any order.
  bool mayLoad(uint32_t step, uint32_t peer) {
    const SlotRange where = outputs(peer, steps[step].from, count(step));
    const bool isKept = accesses.allOf(peer, where, [&](const Access &access) {
      return !access.writes || (access.step == step && accesses.target(step) == where) || isUnused[access.step] ||
             accesses.before(step, access.step);
    });
    return isKept && (peer == program.rankOfStep(step) || endsAfter(peer, step));
  }

  bool endsAfter(uint32_t rank, uint32_t step) {
    for (const fbs::ThreadBlock &block : program.rank(rank).threadBlocks)
      if (block.instruction_count() != 0 &&
          accesses.before(step, program.firstStep(rank) + block.first_instruction() + block.instruction_count() - 1))
        return true;
    return false;
  }

  /// Lets a step that loads over the switch also store over it, if that is possible. All steps that load slots of its
  /// target end before it, because mayLoad() has compared them with its write to its own output.
  void chooseStore(uint32_t step) {
    if (steps[step].data != Data::Reduced || !does(step).writesDst)
      return;
    const uint32_t rank = program.rankOfStep(step);
    const SlotRange target = accesses.target(step), own = accesses.output(rank);
    const uint32_t slot = target.begin - own.begin;
    if (target.begin < own.begin || slot + target.count > own.count)
      return;
    std::vector<uint32_t> served;
    for (const uint32_t peer : members[rank])
      if (peer != rank)
        served.push_back(servedStep(step, peer, slot));
    if (std::find(served.begin(), served.end(), none) != served.end())
      return;
    steps[step].data = Data::Shared;
    for (const uint32_t receive : served)
      steps[receive].data = Data::Arrived;
  }

  /// Returns the step of `peer` that receives the value of `step` in slot `slot` of its output, if `step` can store the
  /// value there. Otherwise returns none.
  uint32_t servedStep(uint32_t step, uint32_t peer, uint32_t slot) {
    const SlotRange where = outputs(peer, slot, count(step));
    for (const Access &access : accesses.of(peer, where)[0]) {
      const uint32_t receive = access.step;
      if (!access.writes || (opcode(receive) != Opcode::Recv && opcode(receive) != Opcode::RecvCopySend) ||
          accesses.target(receive) != where || results[receive].values != results[step].values ||
          !accesses.before(step, receive))
        continue;
      if (accesses.allOf(peer, where, [&](const Access &other) {
            return other.step == receive || accesses.before(other.step, step) || accesses.before(receive, other.step);
          }))
        return receive;
    }
    return none;
  }

  /// Removes the data of steps whose values no step needs, and that do not remain in an output.
  void removeData() {
    std::vector<bool> isKept = remains, isReceived(steps.size());
    const std::span<const uint32_t> sequence = order.sequence();
    for (auto at = sequence.rbegin(); at != sequence.rend(); ++at) {
      const uint32_t step = *at;
      steps[step].sendsData = isReceived[step];
      if (steps[step].data == Data::Shared || steps[step].data == Data::Arrived)
        continue;
      if (!isKept[step] && !isReceived[step]) {
        steps[step].data = Data::Nothing;
      } else if (steps[step].data == Data::Ordinary) {
        for (const uint32_t writer : results[step].writers)
          isKept[writer] = true;
        if (does(step).receives)
          isReceived[order.sender(step)] = true;
      }
    }
  }

  const core::Program &program;
  const core::HappensBefore &order;
  Accesses accesses;
  const std::vector<uint32_t> first;
  Values values;
  std::vector<std::vector<uint32_t>> members; ///< by rank: the ranks of its team, in ascending order
  std::vector<Contents> contents;             ///< by slot
  std::vector<Result> results;                ///< by step
  std::vector<bool> remains;                  ///< by step: its value remains in an output
  std::vector<bool> isUnused;                 ///< by step: no step needs its value if the chosen steps load theirs
  std::vector<SwitchSteps::Step> steps;       ///< by step
};

SwitchSteps SwitchSteps::find(const core::Program &program, const core::HappensBefore &order,
                              std::span<const uint32_t> teams) {
  SwitchSteps found;
  if (!order.known() || !Accesses::affordable(program))
    return found;
  for (uint32_t r = 0; r < program.ranks(); ++r)
    if (program.rank(r).alias == fbs::Alias::OutputInInput)
      return found;
  found.steps = SwitchAnalysis(program, order, teams).run();
  return found;
}

} // namespace gc3::plan
