// SPDX-License-Identifier: Apache-2.0
// Mutators of thread blocks and of properties of the whole program.
#include "Mutators.h"

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::mutation;

using Result = std::optional<uint32_t>;

/// Returns true if a single thread block can have the peers and the channel of both blocks.
static bool mergeable(const Draft::Block &a, const Draft::Block &b) {
  auto idle = [](const Draft::Block &block) { return block.sendPeer < 0 && block.recvPeer < 0; };
  return (a.sendPeer < 0 || b.sendPeer < 0) && (a.recvPeer < 0 || b.recvPeer < 0) &&
         (a.channel == b.channel || idle(a) || idle(b));
}

/// Returns a random merge of the steps of two thread blocks. The result has an element for each step, in the merged
/// order: true if the step belongs to `b`. If possible, a step comes after the steps of the other block for which it
/// waits.
static std::vector<bool> interleave(const Draft::Block &a, const Draft::Block &b, uint32_t aNumber, uint32_t bNumber,
                                    host::Random &random) {
  std::vector<bool> order;
  uint32_t next[2] = {0, 0};
  auto ready = [&](const Draft::Block &own, uint32_t step, uint32_t other, uint32_t otherNext) {
    if (step == own.steps.size())
      return false;
    const std::vector<Wait> &waits = own.steps[step].waits;
    return std::all_of(waits.begin(), waits.end(),
                       [&](const Wait &wait) { return wait.threadBlock != other || wait.step < otherNext; });
  };
  while (next[0] != a.steps.size() || next[1] != b.steps.size()) {
    bool readyA = ready(a, next[0], bNumber, next[1]);
    bool readyB = ready(b, next[1], aNumber, next[0]);
    bool second =
        readyA == readyB ? next[0] == a.steps.size() || (next[1] != b.steps.size() && random.below(2)) : readyB;
    order.push_back(second);
    ++next[second];
  }
  return order;
}

static Result mergeBlocks(Draft &draft, host::Random &random) {
  struct Pair {
    uint32_t rank, a, b;
  };
  std::vector<Pair> pairs;
  for (uint32_t rank = 0; rank != draft.ranks.size(); ++rank)
    for (uint32_t a = 0; a != draft.ranks[rank].size(); ++a)
      for (uint32_t b = a + 1; b != draft.ranks[rank].size(); ++b)
        if (mergeable(draft.ranks[rank][a], draft.ranks[rank][b]))
          pairs.push_back({rank, a, b});
  auto pair = pick(pairs, random);
  if (!pair)
    return std::nullopt;
  std::vector<Draft::Block> &blocks = draft.ranks[pair->rank];
  Draft::Block &a = blocks[pair->a];
  Draft::Block &b = blocks[pair->b];
  std::vector<uint32_t> newNumbers[2];
  Draft::Block merged{a.sendPeer >= 0 || a.recvPeer >= 0 ? a.channel : b.channel,
                      std::max(a.sendPeer, b.sendPeer),
                      std::max(a.recvPeer, b.recvPeer),
                      {}};
  for (bool second : interleave(a, b, pair->a, pair->b, random)) {
    const Draft::Block &from = second ? b : a;
    size_t number = newNumbers[second].size();
    newNumbers[second].push_back(static_cast<uint32_t>(merged.steps.size()));
    merged.steps.push_back(from.steps[number]);
  }
  a = std::move(merged);
  blocks.erase(blocks.begin() + pair->b);
  draft.moveWaits(pair->rank, [&](Wait wait) -> std::optional<Wait> {
    if (wait.threadBlock == pair->a)
      return Wait{pair->a, newNumbers[0][wait.step]};
    if (wait.threadBlock == pair->b)
      return Wait{pair->a, newNumbers[1][wait.step]};
    return Wait{wait.threadBlock - (wait.threadBlock > pair->b), wait.step};
  });
  return pair->rank;
}

/// Moves the steps for which `moves` returns true to a new thread block. Adds no waits, so nothing orders these steps
/// and those that stay.
template <typename Moves>
static void split(Draft &draft, uint32_t rank, uint32_t number, Draft::Block target, Moves moves) {
  std::vector<Draft::Block> &blocks = draft.ranks[rank];
  auto targetNumber = static_cast<uint32_t>(blocks.size());
  std::vector<Draft::StepWithWaits> stay;
  std::vector<Wait> newPlaces;
  for (uint32_t i = 0; i != blocks[number].steps.size(); ++i) {
    Draft::StepWithWaits &step = blocks[number].steps[i];
    std::vector<Draft::StepWithWaits> &to = moves(i, step) ? target.steps : stay;
    newPlaces.push_back({&to == &stay ? number : targetNumber, static_cast<uint32_t>(to.size())});
    to.push_back(std::move(step));
  }
  blocks[number].steps = std::move(stay);
  blocks.push_back(std::move(target));
  draft.moveWaits(
      rank, [&](Wait wait) -> std::optional<Wait> { return wait.threadBlock == number ? newPlaces[wait.step] : wait; });
}

static Result splitLocal(Draft &draft, host::Random &random) {
  auto place = pick(draft.places([&](StepAddress at, const Draft::StepWithWaits &step) {
    return !sends(step.opcode) && !receives(step.opcode) && draft.block(at).steps.size() > 1;
  }),
                    random);
  if (!place)
    return std::nullopt;
  split(draft, place->rank, place->block, {}, [&](uint32_t step, const Step &) { return step == place->step; });
  return place->rank;
}

/// Moves the sends of a thread block to a new one, so that nothing orders the sends and the receives.
static Result splitSends(Draft &draft, host::Random &random) {
  std::vector<std::pair<uint32_t, uint32_t>> all;
  for (uint32_t rank = 0; rank != draft.ranks.size(); ++rank)
    for (uint32_t block = 0; block != draft.ranks[rank].size(); ++block) {
      const Draft::Block &candidate = draft.ranks[rank][block];
      bool fused = std::any_of(candidate.steps.begin(), candidate.steps.end(),
                               [](const Step &step) { return sends(step.opcode) && receives(step.opcode); });
      if (!fused && candidate.sendPeer >= 0 && candidate.steps.size() > 1)
        all.emplace_back(rank, block);
    }
  auto which = pick(all, random);
  if (!which)
    return std::nullopt;
  Draft::Block &from = draft.ranks[which->first][which->second];
  Draft::Block target{from.channel, from.sendPeer, -1, {}};
  from.sendPeer = -1;
  split(draft, which->first, which->second, target, [](uint32_t, const Step &step) { return sends(step.opcode); });
  return which->first;
}

static Result fewerSlots(Draft &draft, host::Random &random) {
  if (draft.fifoSlots == 1)
    return std::nullopt;
  draft.fifoSlots = 1 + static_cast<uint32_t>(random.below(draft.fifoSlots - 1));
  return 0;
}

/// Changes the protocol to LL or LL128, so that messages order only their own data.
static Result weakerProtocol(Draft &draft, host::Random &random) {
  if (draft.info->protocol != Protocol::Simple)
    return std::nullopt;
  auto info = std::make_shared<ProgramInfo>(*draft.info);
  info->protocol = random.below(2) ? Protocol::LL : Protocol::LL128;
  draft.info = info;
  return 0;
}

/// Applies two mutators, because some errors need two mistakes.
static Result twice(Draft &draft, host::Random &random) {
  std::vector<Kind> kinds = allKinds();
  kinds.pop_back(); // twice() itself
  Result changed;
  for (int i = 0; i != 2; ++i)
    if (Result rank = kinds[random.below(kinds.size())].mutate(draft, random))
      changed = rank;
  return changed ? changed : Result(0);
}

static constexpr Kind kinds[] = {
    {"merge-blocks", "two thread blocks of a rank become one", mergeBlocks},
    {"split-local", "a copy or reduce gets a thread block of its own", splitLocal},
    {"split-sends", "the sends of a thread block get one of their own", splitSends},
    {"fewer-slots", "connections have fewer slots", fewerSlots},
    {"weaker-protocol", "LL or LL128 for Simple", weakerProtocol},
    {"two-changes", "two of the above, one after the other", twice},
};

std::span<const Kind> gc3::mutation::blockKinds() {
  return kinds;
}

std::vector<Kind> gc3::mutation::allKinds() {
  std::vector<Kind> all;
  for (std::span<const Kind> some : {waitKinds(), stepKinds(), messageKinds(), blockKinds()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}
