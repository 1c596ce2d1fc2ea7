// SPDX-License-Identifier: Apache-2.0
// The checks in their order. The postcondition is compared by hash; only when that fails (or on demand) the program
// runs once more with explicit multisets, which say what is missing and what is there too often.
#include "gc3/Verify/Verify.h"
#include "Deadlock.h"
#include "PostconditionCheck.h"
#include "Races.h"
#include "Values.h"

using namespace gc3::ir;
using namespace gc3::verify;

static Finding unsetRead(const Program &program, uint32_t block, uint32_t step, BufferId buffer, uint32_t index) {
  return {Finding::Uninitialised,
          describe(program, block, step) + " reads " + program.info->bufferName(buffer) + "[" + std::to_string(index) +
              "], which nothing has written",
          program.steps[program.threadBlocks[block].firstStep + step].site,
          {}};
}

static bool ends(const Program &program, const Connections &connections, uint32_t slots) {
  NoDomain domain;
  return Execution<NoDomain>(program, connections, slots, domain).run();
}

/// The fewest slots with which the program ends, which it does with `enough` and not with `tooFew`. More never hurt, so
/// doubling finds a number that works, and halving the least.
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

/// How many slots would do for a program that does not end with its own.
static std::string slotsNeeded(const Program &program, const Connections &connections, uint32_t mostSlots) {
  if (program.fifoSlots >= mostSlots || !ends(program, connections, mostSlots))
    return {};
  return "; with " + std::to_string(fewestSlots(program, connections, program.fifoSlots, mostSlots)) + " it ends";
}

/// Runs the program in a domain with `slots` slots, and checks how it ends. False if it does not; that it would take
/// too much memory to find out is a finding.
template <typename Domain>
static bool execute(const Program &program, const Connections &connections, uint32_t slots, const Options &options,
                    Domain &domain, Verdict &verdict) {
  uint64_t values = Execution<Domain>::valuesInFlight(program, connections, slots);
  if (values > options.maxSlots) {
    verdict.findings.push_back({Finding::TooLarge,
                                "messages in flight hold up to " + std::to_string(values) + " slots with " +
                                    std::to_string(slots) + (slots == 1 ? " slot" : " slots") +
                                    " per connection, too many to follow; --max-slots allows more",
                                None,
                                {}});
    return true;
  }
  Execution<Domain> execution(program, connections, slots, domain);
  if (!execution.run()) {
    if (slots == program.fifoSlots) {
      verdict.findings.push_back(tellDeadlock(program, connections, execution, slots));
      verdict.findings.back().message += slotsNeeded(program, connections, options.maxFifoSlots);
    }
    return false;
  }
  verdict.proven |= NoDeadlock;
  findRaces(program, connections, execution.order(), options.maxFindings, verdict.findings);
  if (verdict.findings.empty())
    verdict.proven |= NoRaces;
  for (const auto &read : execution.unsetReads())
    if (verdict.findings.size() < options.maxFindings)
      verdict.findings.push_back(unsetRead(program, read.block, read.step, read.buffer, read.index));
  if (verdict.findings.empty())
    checkPostcondition(program, execution.slots(), execution.values(), domain, options.maxFindings, verdict);
  return true;
}

/// With few slots first: the end is the same with any number of slots with which there is one, and one or two nearly
/// always do.
template <typename Domain>
static void executeWithFewSlots(const Program &program, const Connections &connections, const Options &options,
                                Domain &&domain, Verdict &verdict) {
  static constexpr uint32_t few = 2;
  for (uint32_t slots = 1; slots <= std::min(few, program.fifoSlots); ++slots) {
    if (execute(program, connections, slots, options, domain, verdict)) {
      verdict.minSlots = slots;
      return;
    }
  }
  if (program.fifoSlots > few && execute(program, connections, program.fifoSlots, options, domain, verdict))
    verdict.minSlots = fewestSlots(program, connections, few, program.fifoSlots);
}

/// Runs a program with a broken postcondition once more, to say what is missing and what is there too often. Without a
/// word if that takes more memory than anybody expects who did not ask for it.
static void explain(const Program &program, const Connections &connections, const Options &options, Verdict &verdict) {
  constexpr uint64_t mostElements = 4 << 20;
  ExactDomain domain(mostElements);
  Verdict explained = verdict;
  explained.findings.clear();
  execute(program, connections, verdict.minSlots, options, domain, explained);
  if (!domain.isExhausted())
    verdict = std::move(explained);
}

Verdict gc3::verify::verify(const Program &program, const Options &options) {
  Verdict verdict;
  Connections connections = checkStructure(program, options, verdict.findings);
  if (!verdict.findings.empty())
    return verdict;
  verdict.proven |= StructureHolds;
  if (options.exact)
    executeWithFewSlots(program, connections, options, ExactDomain(), verdict);
  else
    executeWithFewSlots(program, connections, options, HashDomain(), verdict);
  bool vague = !options.exact && !verdict.findings.empty() && verdict.findings.front().kind == Finding::Postcondition;
  if (vague)
    explain(program, connections, options, verdict);
  if (verdict.findings.empty() && program.info->collective.post.promises())
    verdict.proven |= PostconditionHolds;
  return verdict;
}
