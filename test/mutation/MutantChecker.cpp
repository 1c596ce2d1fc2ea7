// SPDX-License-Identifier: Apache-2.0
// Deadlocks and wrong sums do not depend on the order of steps, so every run shows them. A race shows only in some
// orders.
#include "MutantChecker.h"
#include "ApiTrial.h"
#include "gc3/Emit/Bundle.h"
#include "host/Random.h"
#include <algorithm>
#include <cassert>
#include <cstdio>

using namespace gc3;
using namespace gc3::mutation;

static std::string bundleOf(const ir::Program &program, const verify::Verdict &verdict, uint32_t minSlots) {
  return emit::writeBundle({{&program, verdict.proven, minSlots, verdict.wholeSlots}}, "mutation");
}

MutantChecker::MutantChecker(const ir::Program &program, const Effort &chosen) : original(program), effort(chosen) {
  originalTrial = HostTrial::load(bundleOf(program, {}, 1));
}

const Data &MutantChecker::data(uint64_t count) {
  auto found = known.find(count);
  if (found == known.end())
    found = known.emplace(count, Data(original, originalTrial->layout(count))).first;
  return found->second;
}

/// Returns up to `most` steps to hold back: at first random steps of the changed rank, then steps of other ranks.
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

namespace {

/// The worst result of several runs with the same data.
class Worst {
public:
  /// Adds a run. Returns true if its outcome is not Right. In this case, no further run is needed.
  bool add(Outcome outcome, const Memory &memory) {
    if (outcome == Outcome::Right && !first)
      first = memory;
    else if (outcome == Outcome::Right && !memory.agrees(*first))
      worst = Shown::Varies;
    if (outcome != Outcome::Right)
      worst = outcome == Outcome::Stuck ? Shown::Stuck : Shown::Wrong;
    return outcome != Outcome::Right;
  }
  Shown shown() const { return worst; }

private:
  std::optional<Memory> first;
  Shown worst = Shown::Nothing;
};

} // namespace

/// Runs the program with counts that fill all slots, so that only the order of steps can change the result. Varies the
/// number of slots and tiles, and whether messages bypass their slots.
Shown MutantChecker::execute(HostTrial &trial, uint32_t minSlots, uint32_t manySlots, uint32_t changedRank,
                             uint64_t seed) {
  static constexpr uint64_t elements = 3; // elements of each slot
  host::Random random(seed);
  Worst tiled;
  for (uint32_t i = 0; i != effort.adversarialRuns; ++i) {
    Conditions conditions{i % 2 ? manySlots : minSlots, 1 + random.below(elements), i % 4 >= 2 && trial.anyDirect(),
                          i % 3 ? poison : ~poison};
    Outcome outcome = trial.runAdversarial(data(trial.wholeCount(elements)), conditions, random.next());
    if (tiled.add(outcome, trial.memory()))
      return tiled.shown();
  }
  Worst held;
  for (Held step : stepsToHold(trial, changedRank, effort.heldSteps, random)) {
    Conditions conditions{manySlots, 1, random.below(2) && trial.anyDirect()};
    Outcome outcome = trial.runHolding(data(trial.wholeCount(1)), conditions, step, random.next());
    if (held.add(outcome, trial.memory()))
      return held.shown();
  }
  return std::min(tiled.shown(), held.shown());
}

/// Returns the step that the message of a finding names first.
static Held placeIn(const HostTrial &trial, const std::string &text) {
  unsigned rank = 0, block = 0, step = 0;
  [[maybe_unused]] int read = std::sscanf(text.c_str(), "rank %u tb %u step %u", &rank, &block, &step);
  assert(read == 3 && "findings name their steps");
  return trial.stepAt(rank, block, step);
}

/// Returns true if the executor can show what the finding says, even if the results stay right: both orders of a race,
/// or a read of unwritten memory.
bool MutantChecker::happens(HostTrial &trial, const verify::Finding &finding) {
  const Data &sample = data(trial.wholeCount(1));
  if (finding.kind == verify::Finding::Race) {
    Held a = placeIn(trial, finding.notes[0].message);
    Held b = placeIn(trial, finding.notes[1].message);
    return trial.canPrecede(sample, a, b) && trial.canPrecede(sample, b, a);
  }
  return finding.kind == verify::Finding::Uninitialised &&
         trial.readsUnwritten(sample, placeIn(trial, finding.message));
}

/// Checks every race that Verify has found. Checks only the first read of unwritten memory, because later ones can read
/// what that step has written.
void MutantChecker::checkFindings(HostTrial &trial, const verify::Verdict &verdict, CheckResult &result) {
  bool all = happens(trial, verdict.findings.front());
  for (const verify::Finding &finding : verdict.findings)
    all &= finding.kind != verify::Finding::Race || happens(trial, finding);
  if (all && result.shown == Shown::Nothing)
    result.shown = Shown::Seen;
  // A message of LL or LL128 orders only its own data. The executor's messages order more, so it can't show every race.
  if (!all && (result.verdict != Verdict::Race || trial.isSimple()))
    result.disagreement = "has a finding that can't happen";
}

/// Checks what else a proof claims: the program works with any number of elements, and deadlocks with fewer slots. The
/// C API must also give right results.
std::string MutantChecker::checkAccepted(HostTrial &trial, const ir::Program &mutant, const verify::Verdict &verdict,
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
  case verify::Finding::TooLarge: break; // mutants are small
  case verify::Finding::Structure: return Verdict::Structure;
  case verify::Finding::Deadlock: return Verdict::Deadlock;
  case verify::Finding::Race: return Verdict::Race;
  case verify::Finding::Uninitialised: return Verdict::Uninitialised;
  case verify::Finding::Postcondition: return Verdict::Postcondition;
  }
  llvm_unreachable("not a kind of finding");
}

/// Returns an empty string if the verdict of Verify and the result of the executor can both be right. Otherwise returns
/// the contradiction.
static std::string contradiction(Verdict verdict, Shown shown) {
  static constexpr const char *words[] = {"is refused by the runtime", "gets stuck", "leaves wrong results",
                                          "leaves memory that depends on the order, or on what was there"};
  if (verdict == Verdict::Accepted && shown != Shown::Nothing)
    return std::string("is accepted, and ") + words[static_cast<size_t>(shown)];
  if (verdict == Verdict::Deadlock && shown != Shown::Stuck)
    return "is said to deadlock, and does not";
  if (verdict == Verdict::Postcondition && shown != Shown::Wrong)
    return "is said to leave wrong results, and does not";
  return {};
}

CheckResult MutantChecker::check(const ir::Program &mutant, uint32_t changedRank, uint64_t seed) {
  verify::Verdict verdict = verify::verify(mutant, {});
  verify::Verdict exact = verify::verify(mutant, {.exact = true});
  CheckResult result{verdictOf(verdict), Shown::Refused, verdict.holds() ? "" : verdict.findings.front().message, {}};
  if (!same(verdict, exact))
    result.disagreement = "is checked differently by --verify=exact";
  std::unique_ptr<HostTrial> trial = HostTrial::load(bundleOf(mutant, verdict, 1));
  if (trial) {
    static constexpr uint32_t plenty = 8;
    uint32_t minSlots = verdict.minSlots == 0 ? mutant.fifoSlots : verdict.minSlots;
    uint32_t manySlots = verdict.minSlots == 0 ? mutant.fifoSlots : std::max(plenty, minSlots);
    result.shown = execute(*trial, minSlots, manySlots, changedRank, seed);
    if (result.verdict == Verdict::Race || result.verdict == Verdict::Uninitialised)
      checkFindings(*trial, verdict, result);
  }
  if (result.disagreement.empty())
    result.disagreement = contradiction(result.verdict, result.shown);
  if (result.verdict == Verdict::Accepted && result.disagreement.empty())
    result.disagreement = checkAccepted(*trial, mutant, verdict, seed);
  return result;
}
