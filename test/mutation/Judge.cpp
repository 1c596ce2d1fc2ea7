// SPDX-License-Identifier: Apache-2.0
// A deadlock and a wrong sum do not depend on the order, so one run has to show them; a race needs the right one.
#include "Judge.h"
#include "ApiTrial.h"
#include "gc3/Emit/Bundle.h"
#include "host/Random.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::mutation;

static std::string bundleOf(const ir::Program &program, const verify::Verdict &verdict, uint32_t minSlots) {
  return emit::writeBundle({{&program, verdict.proven, minSlots, verdict.wholeSlots}}, "mutation");
}

Judge::Judge(const ir::Program &program, const Effort &chosen) : original(program), effort(chosen) {
  originalTrial = HostTrial::load(bundleOf(program, {}, 1));
}

const Data &Judge::data(uint64_t count) {
  auto found = known.find(count);
  if (found == known.end())
    found = known.emplace(count, Data(original, originalTrial->layout(count))).first;
  return found->second;
}

static Shown shownBy(Outcome outcome) {
  switch (outcome) {
  case Outcome::Right: return Shown::Nothing;
  case Outcome::Wrong: return Shown::Wrong;
  case Outcome::Stuck: return Shown::Stuck;
  }
  llvm_unreachable("not an outcome");
}

/// Steps to hold back: those of the changed rank before those of the others, `most` in all.
static std::vector<Held> stepsToHold(const HostTrial &trial, uint32_t changedRank, uint32_t most,
                                     host::Random &random) {
  std::vector<Held> result;
  for (uint32_t i = 0; i != trial.ranks() && result.size() < most; ++i) {
    std::vector<Held> steps = trial.stepsOf((changedRank + i) % trial.ranks());
    for (size_t left = steps.size(); left != 0 && result.size() < most; --left) {
      std::swap(steps[left - 1], steps[random.below(left)]);
      result.push_back(steps[left - 1]);
    }
  }
  return result;
}

/// Slots are whole here, so nothing but orders can make a difference: few slots and many, one tile and several,
/// messages in slots and past them.
Shown Judge::execute(HostTrial &trial, uint32_t minSlots, uint32_t manySlots, uint32_t changedRank, uint64_t seed) {
  static constexpr uint64_t elements = 3; // of each slot
  host::Random random(seed);
  for (uint32_t i = 0; i != effort.adversarialRuns; ++i) {
    Conditions conditions{i % 2 ? manySlots : minSlots, 1 + random.below(elements), i % 4 >= 2 && trial.anyDirect()};
    Outcome outcome = trial.runAdversarial(data(trial.wholeCount(elements)), conditions, random.next());
    if (outcome != Outcome::Right)
      return shownBy(outcome);
  }
  for (Held held : stepsToHold(trial, changedRank, effort.heldSteps, random)) {
    Conditions conditions{manySlots, 1, random.below(2) && trial.anyDirect()};
    Outcome outcome = trial.runHolding(data(trial.wholeCount(1)), conditions, held, random.next());
    if (outcome != Outcome::Right)
      return shownBy(outcome);
  }
  return Shown::Nothing;
}

/// What else a proof claims: any number of elements, that fewer slots are too few, and that users get the same.
std::string Judge::checkAccepted(HostTrial &trial, const ir::Program &mutant, const verify::Verdict &verdict,
                                 uint64_t seed) {
  host::Random random(seed);
  uint64_t slots = trial.wholeCount(1);
  uint64_t counts[] = {1, slots, 2 * slots - 1, 1 + random.below(4 * slots)};
  for (uint64_t count : counts) {
    Conditions conditions{verdict.minSlots, 1, random.below(2) && trial.anyDirect()};
    bool fits = !verdict.wholeSlots || count % slots == 0;
    if (fits && trial.runAdversarial(data(count), conditions, random.next()) != Outcome::Right)
      return "is accepted, and wrong for " + std::to_string(count) + " elements per block";
  }
  if (verdict.minSlots > 1 &&
      trial.runAdversarial(data(slots), {verdict.minSlots - 1, 1, false}, random.next()) != Outcome::Stuck)
    return "is said to need " + std::to_string(verdict.minSlots) + " slots, and ends with fewer";
  ApiTrial api(bundleOf(mutant, verdict, verdict.minSlots), random.below(2) ? verdict.minSlots : 0, random.next());
  for (uint32_t i = 0; i != effort.apiCalls; ++i) {
    uint64_t count = counts[random.below(std::size(counts))];
    bool inPlace = i % 2 != 0;
    if (std::string problem = api.call(data(count), inPlace); !problem.empty())
      return "is accepted, and called " + std::string(inPlace ? "in place" : "out of place") + " with " +
             std::to_string(count) + " elements per block: " + problem;
  }
  return {};
}

static bool same(const verify::Verdict &a, const verify::Verdict &b) {
  auto sameFinding = [](const verify::Finding &x, const verify::Finding &y) {
    return x.kind == y.kind && x.message == y.message && x.site == y.site;
  };
  return a.proven == b.proven && a.minSlots == b.minSlots && a.wholeSlots == b.wholeSlots &&
         std::equal(a.findings.begin(), a.findings.end(), b.findings.begin(), b.findings.end(), sameFinding);
}

static Verdict verdictOf(const verify::Verdict &verdict) {
  if (verdict.findings.empty())
    return Verdict::Accepted;
  switch (verdict.findings.front().kind) {
  case verify::Finding::Structure: return Verdict::Structure;
  case verify::Finding::Deadlock: return Verdict::Deadlock;
  case verify::Finding::Race: return Verdict::Race;
  case verify::Finding::Uninitialised: return Verdict::Uninitialised;
  case verify::Finding::Postcondition: return Verdict::Postcondition;
  }
  llvm_unreachable("not a kind of finding");
}

/// Empty if what Verify says and what the executor shows can both be true.
static std::string contradiction(Verdict verdict, Shown shown) {
  static constexpr const char *words[] = {"is refused by the runtime", "gets stuck", "leaves wrong results"};
  if (verdict == Verdict::Accepted && shown != Shown::Nothing)
    return std::string("is accepted, and ") + words[static_cast<size_t>(shown)];
  if (verdict == Verdict::Deadlock && shown != Shown::Stuck)
    return "is said to deadlock, and does not";
  if (verdict == Verdict::Postcondition && shown != Shown::Wrong)
    return "is said to leave wrong results, and does not";
  return {};
}

Judgement Judge::judge(const ir::Program &mutant, uint32_t changedRank, uint64_t seed) {
  verify::Verdict verdict = verify::verify(mutant, {});
  verify::Verdict exact = verify::verify(mutant, {.exact = true});
  Judgement judgement{verdictOf(verdict), Shown::Refused, verdict.holds() ? "" : verdict.findings.front().message, {}};
  if (!same(verdict, exact))
    judgement.disagreement = "is judged differently by --verify=exact";
  std::unique_ptr<HostTrial> trial = HostTrial::load(bundleOf(mutant, verdict, 1));
  if (trial) {
    static constexpr uint32_t plenty = 8;
    uint32_t minSlots = verdict.minSlots == 0 ? mutant.fifoSlots : verdict.minSlots;
    uint32_t manySlots = verdict.minSlots == 0 ? mutant.fifoSlots : std::max(plenty, minSlots);
    judgement.shown = execute(*trial, minSlots, manySlots, changedRank, seed);
  }
  if (judgement.disagreement.empty())
    judgement.disagreement = contradiction(judgement.verdict, judgement.shown);
  if (judgement.verdict == Verdict::Accepted && judgement.disagreement.empty())
    judgement.disagreement = checkAccepted(*trial, mutant, verdict, seed);
  return judgement;
}
