// SPDX-License-Identifier: Apache-2.0
// Mutators of the waits of steps.
#include "Mutators.h"

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::mutation;

using Result = std::optional<uint32_t>;

namespace {

/// Identifies a wait by its step and its index.
struct Which {
  StepAddress place;
  size_t index;
};

} // namespace

/// Returns a random wait for which `wanted(place, wait)` returns true.
template <typename Wanted>
static std::optional<Which> pickWait(Draft &draft, host::Random &random, Wanted wanted) {
  std::vector<Which> all;
  for (StepAddress place :
       draft.places([](StepAddress, const Draft::StepWithWaits &step) { return !step.waits.empty(); })) {
    const std::vector<Wait> &waits = draft.step(place).waits;
    for (size_t i = 0; i != waits.size(); ++i)
      if (wanted(place, waits[i]))
        all.push_back({place, i});
  }
  return pick(all, random);
}

static Result dropWait(Draft &draft, host::Random &random) {
  auto which = pickWait(draft, random, [](StepAddress, const Wait &) { return true; });
  if (!which)
    return std::nullopt;
  std::vector<Wait> &waits = draft.step(which->place).waits;
  waits.erase(waits.begin() + static_cast<ptrdiff_t>(which->index));
  return which->place.rank;
}

static Result waitForEarlier(Draft &draft, host::Random &random) {
  auto which = pickWait(draft, random, [](StepAddress, const Wait &wait) { return wait.step != 0; });
  if (!which)
    return std::nullopt;
  uint32_t &step = draft.step(which->place).waits[which->index].step;
  step = random.below(2) ? step - 1 : static_cast<uint32_t>(random.below(step));
  return which->place.rank;
}

static Result waitForLater(Draft &draft, host::Random &random) {
  auto which = pickWait(draft, random, [&](StepAddress place, const Wait &wait) {
    return wait.step + 1 < draft.ranks[place.rank][wait.threadBlock].steps.size();
  });
  if (!which)
    return std::nullopt;
  ++draft.step(which->place).waits[which->index].step;
  return which->place.rank;
}

static Result waitForOther(Draft &draft, host::Random &random) {
  auto which =
      pickWait(draft, random, [&](StepAddress place, const Wait &) { return draft.ranks[place.rank].size() > 2; });
  if (!which)
    return std::nullopt;
  const std::vector<Draft::Block> &blocks = draft.ranks[which->place.rank];
  Wait &wait = draft.step(which->place).waits[which->index];
  std::vector<uint32_t> others;
  for (uint32_t i = 0; i != blocks.size(); ++i)
    if (i != wait.threadBlock && i != which->place.block && !blocks[i].steps.empty())
      others.push_back(i);
  auto other = pick(others, random);
  if (!other)
    return std::nullopt;
  wait = {*other, static_cast<uint32_t>(random.below(blocks[*other].steps.size()))};
  return which->place.rank;
}

static constexpr Kind kinds[] = {
    {"drop-wait", "a wait goes", dropWait},
    {"earlier-wait", "waits for an earlier step of the same thread block", waitForEarlier},
    {"later-wait", "waits for the next step of the same thread block", waitForLater},
    {"other-wait", "waits for a step of another thread block", waitForOther},
};

std::span<const Kind> gc3::mutation::waitKinds() {
  return kinds;
}
