// SPDX-License-Identifier: Apache-2.0
// Counts the work of each rank, and the longest chains of steps. Both passes are linear.
#include "gc3/Emit/Cost.h"
#include "StepOrder.h"
#include <algorithm>
#include <set>

using namespace gc3::ir;
using namespace gc3::emit;

static void countWork(const Program &program, Cost &cost) {
  std::set<uint32_t> channels;
  cost.ranks.resize(program.ranks());
  for (const ThreadBlock &block : program.threadBlocks) {
    RankCost &own = cost.ranks[block.rank];
    ++own.threadBlocks;
    own.steps += block.stepCount;
    if (block.sendPeer >= 0 || block.recvPeer >= 0)
      channels.insert(block.channel);
    for (uint32_t i = block.firstStep; i != block.firstStep + block.stepCount; ++i) {
      const Step &step = program.steps[i];
      own.messagesOut += sends(step.opcode);
      own.slotsOut += sends(step.opcode) ? step.count : 0;
      own.messagesIn += receives(step.opcode);
      own.slotsIn += receives(step.opcode) ? step.count : 0;
    }
  }
  cost.channels = static_cast<uint32_t>(channels.size());
}

static void measurePaths(const Program &program, Cost &cost) {
  struct Path {
    uint32_t messages = 0, steps = 0; // the most on a chain that ends with the step
  };
  const Messages messages = matchMessages(program);
  std::vector<Path> paths(program.steps.size());
  StepOrder(program, messages).run([&](uint32_t block, uint32_t step) {
    Path path;
    eachDependency(program, messages, block, step, [&](uint32_t other, Dependency dependency) {
      if (dependency == Dependency::Slot)
        return;
      path.messages = std::max(path.messages, paths[other].messages + (dependency == Dependency::Message));
      path.steps = std::max(path.steps, paths[other].steps);
    });
    ++path.steps;
    paths[step] = path;
    cost.pathMessages = std::max(cost.pathMessages, path.messages);
    cost.pathSteps = std::max(cost.pathSteps, path.steps);
  });
}

std::vector<Traffic> gc3::emit::trafficOf(const Program &program) {
  std::vector<Traffic> traffic;
  for (const ThreadBlock &block : program.threadBlocks) {
    uint64_t slots = 0;
    for (uint32_t i = block.firstStep; i != block.firstStep + block.stepCount; ++i)
      slots += sends(program.steps[i].opcode) ? program.steps[i].count : 0;
    if (slots != 0)
      traffic.push_back({block.rank, static_cast<uint32_t>(block.sendPeer), slots});
  }
  return traffic;
}

double gc3::emit::longestPath(const Program &program, llvm::function_ref<double(uint32_t from, uint32_t to)> latency) {
  std::vector<double> ofBlock;
  for (const ThreadBlock &block : program.threadBlocks)
    ofBlock.push_back(block.recvPeer >= 0 ? latency(static_cast<uint32_t>(block.recvPeer), block.rank) : 0);
  const Messages messages = matchMessages(program);
  std::vector<double> paths(program.steps.size()); // the longest chain that ends with the step
  double longest = 0;
  StepOrder(program, messages).run([&](uint32_t block, uint32_t step) {
    eachDependency(program, messages, block, step, [&](uint32_t other, Dependency dependency) {
      if (dependency != Dependency::Slot)
        paths[step] = std::max(paths[step], paths[other] + (dependency == Dependency::Message ? ofBlock[block] : 0));
    });
    longest = std::max(longest, paths[step]);
  });
  return longest;
}

uint64_t Cost::slotsSent() const {
  uint64_t sum = 0;
  for (const RankCost &rank : ranks)
    sum += rank.slotsOut;
  return sum;
}

Cost gc3::emit::costOf(const Program &program) {
  const Collective &collective = program.info->collective;
  Cost cost;
  for (uint32_t rank = 0; rank != collective.ranks; ++rank)
    for (BufferId buffer : {InputBuffer, OutputBuffer})
      cost.slotsOfCall = std::max(cost.slotsOfCall, uint64_t(collective.size(rank, buffer)) * program.subdivision);
  countWork(program, cost);
  measurePaths(program, cost);
  if (collective.post.promises())
    cost.bounds = costBounds(collective, program.subdivision);
  return cost;
}
