// SPDX-License-Identifier: Apache-2.0
// The checks in their order. The postcondition is compared by hash; only when that fails (or on demand) the program
// runs once more with explicit multisets, which say what is missing and what is there too often.
#include "gc3/Verify/Verify.h"
#include "Deadlock.h"
#include "PostconditionCheck.h"
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

/// The fewest slots with which the program ends; it does with all of its own. More slots never hurt, so doubling finds
/// a number that works (nearly always 1 or 2), and halving the least.
static uint32_t fewestSlots(const Program &program, const Connections &connections) {
  NoDomain domain;
  auto ends = [&](uint32_t slots) {
    return slots >= program.fifoSlots || Execution<NoDomain>(program, connections, slots, domain).run();
  };
  uint32_t tooFew = 0;
  uint32_t enough = 1;
  for (; !ends(enough); enough *= 2)
    tooFew = enough;
  enough = std::min(enough, program.fifoSlots);
  while (enough - tooFew > 1) {
    uint32_t middle = tooFew + (enough - tooFew) / 2;
    (ends(middle) ? enough : tooFew) = middle;
  }
  return enough;
}

/// Runs the program in a domain; true if all that it checks holds.
template <typename Domain>
static bool execute(const Program &program, const Connections &connections, const Options &options, Verdict &verdict) {
  Domain domain;
  Execution<Domain> execution(program, connections, program.fifoSlots, domain);
  if (!execution.run()) {
    verdict.findings.push_back(tellDeadlock(program, connections, execution, program.fifoSlots));
    return false;
  }
  verdict.proven |= NoDeadlock;
  for (const auto &read : execution.unsetReads())
    if (verdict.findings.size() < options.maxFindings)
      verdict.findings.push_back(unsetRead(program, read.block, read.step, read.buffer, read.index));
  if (!verdict.findings.empty())
    return false;
  checkPostcondition(program, execution.slots(), execution.values(), domain, options.maxFindings, verdict);
  return verdict.findings.empty();
}

Verdict gc3::verify::verify(const Program &program, const Options &options) {
  Verdict verdict;
  Connections connections = checkStructure(program, options.maxFindings, verdict.findings);
  if (!verdict.findings.empty())
    return verdict;
  verdict.proven |= StructureHolds;
  bool holds = options.exact ? execute<ExactDomain>(program, connections, options, verdict)
                             : execute<HashDomain>(program, connections, options, verdict);
  if (holds) {
    if (program.info->collective.post.promises())
      verdict.proven |= PostconditionHolds;
    verdict.minSlots = fewestSlots(program, connections);
    return verdict;
  }
  bool vague = !options.exact && verdict.findings.front().kind == Finding::Postcondition;
  if (vague) {
    verdict.findings.clear();
    execute<ExactDomain>(program, connections, options, verdict);
  }
  return verdict;
}
