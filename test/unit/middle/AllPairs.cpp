// SPDX-License-Identifier: Apache-2.0
#include "AllPairs.h"
#include <map>

using namespace gc3::ir;
using namespace gc3::test;

AllPairs::AllPairs(const Program &program) : program(program), before(program.steps.size()) {
  for (auto &row : before)
    row.resize(program.steps.size());
  addThreadBlocks();
  if (program.info->protocol == Protocol::Simple)
    addMessages();
  close();
}

void AllPairs::addThreadBlocks() {
  for (uint32_t block = 0; block != program.threadBlocks.size(); ++block)
    for (uint32_t i = 0; i != program.threadBlocks[block].stepCount; ++i) {
      uint32_t step = number(block, i);
      if (i != 0)
        before[step - 1][step] = true;
      for (uint32_t w = 0; w != program.steps[step].waitCount; ++w) {
        const Wait &wait = program.waits[program.steps[step].waitBegin + w];
        before[number(first(block) + wait.threadBlock, wait.step)][step] = true;
      }
    }
}

void AllPairs::addMessages() {
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<uint32_t>> sent;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<uint32_t>> received;
  for (const ThreadBlock &block : program.threadBlocks)
    for (uint32_t step = block.firstStep; step != block.firstStep + block.stepCount; ++step) {
      if (sends(program.steps[step].opcode))
        sent[{block.rank, block.sendPeer, block.channel}].push_back(step);
      if (receives(program.steps[step].opcode))
        received[{block.recvPeer, block.rank, block.channel}].push_back(step);
    }
  for (const auto &[connection, steps] : sent)
    for (size_t i = 0; i != steps.size(); ++i)
      before[steps[i]][received[connection][i]] = true;
}

void AllPairs::close() {
  for (size_t middle = 0; middle != before.size(); ++middle)
    for (auto &row : before)
      if (row[middle])
        for (size_t to = 0; to != before.size(); ++to)
          row[to] = row[to] || before[middle][to];
}

static bool meet(BufferId a, uint32_t aIndex, uint32_t aCount, BufferId b, uint32_t bIndex, uint32_t bCount) {
  return a == b && aIndex < bIndex + bCount && bIndex < aIndex + aCount;
}

static bool writesWhatOtherUses(const Step &a, const Step &b) {
  return writesDst(a.opcode) &&
         ((writesDst(b.opcode) && meet(a.dstBuffer, a.dstIndex, a.count, b.dstBuffer, b.dstIndex, b.count)) ||
          (readsSrc(b.opcode) && meet(a.dstBuffer, a.dstIndex, a.count, b.srcBuffer, b.srcIndex, b.count)));
}

bool AllPairs::race(uint32_t i, uint32_t j) const {
  const Step &a = program.steps[i];
  const Step &b = program.steps[j];
  return (writesWhatOtherUses(a, b) || writesWhatOtherUses(b, a)) && !before[i][j] && !before[j][i];
}

std::set<std::vector<uint32_t>> AllPairs::races() const {
  std::set<std::vector<uint32_t>> result;
  for (uint32_t a = 0; a != program.threadBlocks.size(); ++a)
    for (uint32_t b = a + 1; b != program.threadBlocks.size(); ++b)
      for (uint32_t i = 0; i != program.threadBlocks[a].stepCount; ++i)
        for (uint32_t j = 0; j != program.threadBlocks[b].stepCount; ++j)
          if (program.threadBlocks[a].rank == program.threadBlocks[b].rank && race(number(a, i), number(b, j)))
            result.insert({program.threadBlocks[a].rank, a - first(a), i, b - first(b), j});
  return result;
}
