// SPDX-License-Identifier: Apache-2.0
// Visits the steps of a program so that each comes after all steps that it depends on. Linear in the steps and waits.
#pragma once

#include "gc3/Emit/Messages.h"
#include <cassert>
#include <numeric>

namespace gc3::emit {

/// The reason why a step must end before another one can begin: both are in one thread block; a wait; a message; or the
/// receive frees the FIFO slot into which the later step sends.
enum class Dependency : uint8_t { Order, Wait, Message, Slot };

/// Calls `visit(other, dependency)` for every step that must end before `step` of thread block `block` can begin.
template <typename Visit>
void eachDependency(const ir::Program &program, const Messages &messages, uint32_t block, uint32_t step, Visit visit) {
  const ir::ThreadBlock &own = program.threadBlocks[block];
  const ir::Step &record = program.steps[step];
  if (step != own.firstStep)
    visit(step - 1, Dependency::Order);
  for (uint32_t i = record.waitBegin; i != record.waitBegin + record.waitCount; ++i) {
    const ir::Wait &wait = program.waits[i];
    visit(program.threadBlocks[program.rankBegin[own.rank] + wait.threadBlock].firstStep + wait.step, Dependency::Wait);
  }
  if (messages.senderOf[step] != ir::None)
    visit(messages.senderOf[step], Dependency::Message);
  if (messages.freedBy[step] != ir::None)
    visit(messages.freedBy[step], Dependency::Slot);
}

/// Runs each thread block until it reaches a step that depends on an unvisited step, and resumes the thread block after
/// the visit of this other step. Verify must have accepted the program.
class StepOrder {
public:
  StepOrder(const ir::Program &program, const Messages &messages)
      : program(program), messages(messages), position(program.threadBlocks.size()),
        nextWaiter(program.threadBlocks.size(), ir::None), firstWaiter(program.steps.size(), ir::None),
        isVisited(program.steps.size()), ready(program.threadBlocks.size()) {
    std::iota(ready.rbegin(), ready.rend(), 0);
  }

  /// Calls `visit(block, step)` for every step. Can be called once.
  template <typename Visit>
  void run(Visit visit) {
    while (!ready.empty()) {
      uint32_t block = ready.back();
      ready.pop_back();
      runBlock(block, visit);
    }
    assert(std::accumulate(isVisited.begin(), isVisited.end(), size_t(0)) == isVisited.size() &&
           "Verify has seen that the program ends");
  }

private:
  /// Returns true if the step can be visited. Otherwise adds its thread block to the waiters of an unvisited
  /// dependency.
  bool isReady(uint32_t block, uint32_t step) {
    uint32_t missing = ir::None;
    eachDependency(program, messages, block, step,
                   [&](uint32_t other, Dependency) { missing = isVisited[other] != 0 ? missing : other; });
    if (missing == ir::None)
      return true;
    nextWaiter[block] = firstWaiter[missing];
    firstWaiter[missing] = block;
    return false;
  }

  template <typename Visit>
  void runBlock(uint32_t block, Visit &visit) {
    const ir::ThreadBlock &own = program.threadBlocks[block];
    for (; position[block] != own.stepCount; ++position[block]) {
      uint32_t step = own.firstStep + position[block];
      if (!isReady(block, step))
        return;
      visit(block, step);
      isVisited[step] = 1;
      for (uint32_t waiter = firstWaiter[step]; waiter != ir::None; waiter = nextWaiter[waiter])
        ready.push_back(waiter);
    }
  }

  const ir::Program &program;
  const Messages &messages;
  std::vector<uint32_t> position;    // by thread block: number of its visited steps
  std::vector<uint32_t> nextWaiter;  // by thread block: the next thread block that waits for the same step
  std::vector<uint32_t> firstWaiter; // by step: the first thread block that waits for it
  std::vector<uint8_t> isVisited;    // by step
  std::vector<uint32_t> ready;
};

} // namespace gc3::emit
