// SPDX-License-Identifier: Apache-2.0
// Runs the checks in order. After the structure, finds one complete execution without values. Whether one exists
// depends on the number of slots, but not on values. Then checks races and values in the order of this execution.
// Compares the postcondition by hashes. Only if this fails, or on request, values are explicit multisets, which show
// the missing contributions and the contributions that occur too often.
#include "gc3/Verify/Verify.h"
#include "Stages.h"
#include "gc3/Support/Quantity.h"
#include <algorithm>
#include <optional>

using namespace gc3::ir;
using namespace gc3::verify;

static Finding unsetRead(const Program &program, uint32_t block, uint32_t step, BufferId buffer, uint32_t index) {
  return {Finding::Uninitialised,
          describe(program, block, step) + " reads " + program.info->bufferName(buffer) + "[" + std::to_string(index) +
              "], which no step has written",
          program.steps[program.threadBlocks[block].firstStep + step].site,
          {}};
}

static bool ends(const Program &program, const Connections &connections, uint32_t slots) {
  return Execution(program, connections, slots).run();
}

/// Returns the smallest number of slots with which the program ends. The program must end with `enough` slots and not
/// with `tooFew`. A program that ends also ends with more slots. So doubling finds a sufficient number, and a binary
/// search finds the smallest one.
static uint32_t fewestSlots(const Program &program, const Connections &connections, uint32_t tooFew, uint32_t enough) {
  while (2 * tooFew < enough) {
    if (ends(program, connections, 2 * tooFew)) {
      enough = 2 * tooFew;
      break;
    }
    tooFew *= 2;
  }
  while (enough - tooFew > 1) {
    uint32_t middle = tooFew + (enough - tooFew) / 2;
    (ends(program, connections, middle) ? enough : tooFew) = middle;
  }
  return enough;
}

/// Returns text about the number of slots that suffices for a program that does not end with its own number of slots.
/// Returns an empty string if no number suffices.
static std::string slotsNeeded(const Program &program, const Connections &connections, uint32_t mostSlots) {
  if (program.fifoSlots >= mostSlots || !ends(program, connections, mostSlots))
    return {};
  return "; with " + std::to_string(fewestSlots(program, connections, program.fifoSlots, mostSlots)) + " it ends";
}

/// Reports a finding and returns false if the contents of messages in flight with `slots` slots take too much memory.
static bool fitsLimit(const Fifos &fifos, uint32_t slots, const Options &options, Verdict &verdict) {
  if (fifos.size() <= options.maxSlots)
    return true;
  verdict.findings.push_back({Finding::TooLarge,
                              "messages in flight hold up to " + std::to_string(fifos.size()) + " slots with " +
                                  gc3::quantity(slots, "slot") +
                                  " per connection, too many to analyze; --max-slots allows more",
                              None,
                              {}});
  return false;
}

namespace {

/// A complete execution, and the places that its messages need.
struct FullRun {
  Order order;
  Fifos fifos;
};

} // namespace

/// Returns nothing if the program deadlocks with `slots` FIFO slots per connection. Adds a finding for this deadlock
/// only if `slots` equals the program's `fifoSlots`. If the program is too large, adds a finding and returns nothing.
static std::optional<FullRun> runWith(const Program &program, const Connections &connections, uint32_t slots,
                                      const Options &options, Verdict &verdict) {
  Fifos fifos(program, connections, slots);
  if (!fitsLimit(fifos, slots, options, verdict))
    return std::nullopt;
  Execution execution(program, connections, slots);
  if (execution.run())
    return FullRun{execution.takeOrder(), std::move(fifos)};
  if (slots == program.fifoSlots) {
    verdict.findings.push_back(describeDeadlock(program, connections, execution, slots));
    verdict.findings.back().message += slotsNeeded(program, connections, options.maxFifoSlots);
  }
  return std::nullopt;
}

/// Runs with few slots first, because one or two slots nearly always suffice. The result is the same for every number
/// of slots that suffices. Sets Verdict::minSlots.
static std::optional<FullRun> runWithFewSlots(const Program &program, const Connections &connections,
                                              const Options &options, Verdict &verdict) {
  static constexpr uint32_t few = 2;
  for (uint32_t slots : {1u, few, program.fifoSlots}) {
    std::optional<FullRun> run = runWith(program, connections, slots, options, verdict);
    if (run)
      verdict.minSlots = slots <= few ? slots : fewestSlots(program, connections, few, slots);
    if (run || slots >= program.fifoSlots || !verdict.findings.empty())
      return run;
  }
  llvm_unreachable("the last number of slots is the program's");
}

/// Checks that every slot was written before it was read, and that outputs hold what the collective promises.
template <typename Domain>
static void checkContents(const Program &program, const Connections &connections, const FullRun &run,
                          const Options &options, Domain &domain, Verdict &verdict) {
  Contents<Domain> contents(program, connections, run.fifos, domain);
  contents.follow(run.order);
  for (const auto &read : contents.unsetReads())
    if (verdict.findings.size() < options.maxFindings)
      verdict.findings.push_back(unsetRead(program, read.block, read.step, read.buffer, read.index));
  if (verdict.findings.empty())
    checkPostcondition(program, contents.slots(), contents.values(), domain, options.maxFindings, verdict);
}

/// Replaces the findings about a violated postcondition by findings that name missing and superfluous contributions.
/// Changes nothing if this needs more than `mostElements` elements. The limit is low, because the user did not request
/// exact values.
static void explain(const Program &program, const Connections &connections, const FullRun &run, const Options &options,
                    Verdict &verdict) {
  constexpr uint64_t mostElements = 4 << 20;
  ExactDomain domain(mostElements);
  Verdict explained = verdict;
  explained.findings.clear();
  checkContents(program, connections, run, options, domain, explained);
  if (!domain.isExhausted())
    verdict = std::move(explained);
}

/// Checks with explicit multisets of contributions, and keeps at most `most` contributions.
static void checkExactly(const Program &program, const Connections &connections, const FullRun &run,
                         const Options &options, Verdict &verdict) {
  uint64_t most = 4 * options.maxSlots;
  ExactDomain domain(most);
  Verdict exact = verdict;
  checkContents(program, connections, run, options, domain, exact);
  if (!domain.isExhausted()) {
    verdict = std::move(exact);
    return;
  }
  verdict.findings.push_back({Finding::TooLarge,
                              "its slots hold more than " + gc3::quantity(most, "contribution") +
                                  " in all, too many to keep for --verify=exact; --max-slots allows more, and "
                                  "--verify=fast needs none",
                              None,
                              {}});
}

/// Runs all checks that need an execution.
static void checkRun(const Program &program, const Connections &connections, const Options &options, Verdict &verdict) {
  std::optional<FullRun> run = runWithFewSlots(program, connections, options, verdict);
  if (!run)
    return;
  verdict.proven |= NoDeadlock;
  findRaces(program, connections, run->order, options, verdict.findings);
  if (verdict.findings.empty())
    verdict.proven |= NoRaces;
  if (options.exact)
    return checkExactly(program, connections, *run, options, verdict);
  HashDomain domain;
  checkContents(program, connections, *run, options, domain, verdict);
  if (!verdict.findings.empty() && verdict.findings.front().kind == Finding::Postcondition)
    explain(program, connections, *run, options, verdict);
}

Verdict gc3::verify::verify(const Program &program, const Options &options) {
  Verdict verdict;
  Connections connections = checkStructure(program, options, verdict.findings);
  if (!options.exact)
    checkCounts(program, verdict.findings);
  if (!verdict.findings.empty())
    return verdict;
  verdict.proven |= StructureHolds;
  checkRun(program, connections, options, verdict);
  if (verdict.findings.empty() && program.info->collective.post.promises())
    verdict.proven |= PostconditionHolds;
  return verdict;
}
