// SPDX-License-Identifier: Apache-2.0
// What the scheduler orders: the instructions, some of them split again into a receive and a send.
//
// Scheduling undoes a fusion where a channel's thread blocks or the FIFO slots do not allow it. Node i is instruction
// i (or its receiving part), node i + n the sending part of a split instruction i, with n instructions in all.
#pragma once

#include "gc3/IR/InstructionDag.h"

namespace gc3::schedule {

using ir::None;

class Nodes {
public:
  explicit Nodes(const ir::InstructionDag &dag)
      : dag(dag), n(static_cast<uint32_t>(dag.instructions.size())), splitFlags(dag.instructions.size()) {}

  const ir::InstructionDag &dag;
  const uint32_t n;

  bool isSecondHalf(uint32_t node) const { return node >= n; }
  uint32_t first(uint32_t node) const { return node >= n ? node - n : node; }
  uint32_t secondHalf(uint32_t instruction) const { return instruction + n; }
  const ir::Instruction &at(uint32_t node) const { return dag.instructions[first(node)]; }

  void split(uint32_t instruction) {
    splitFlags[instruction] = 1;
    ++splits;
  }
  bool isSplit(uint32_t instruction) const { return splitFlags[instruction] != 0; }
  uint32_t total() const { return n + splits; }

  bool receives(uint32_t node) const { return node < n && ir::receives(at(node).opcode); }
  bool sends(uint32_t node) const { return node >= n || (ir::sends(at(node).opcode) && !splitFlags[node]); }
  bool fused(uint32_t node) const { return receives(node) && sends(node); }

  /// The node that sends the message which instruction `receiver` receives.
  uint32_t sender(uint32_t receiver) const {
    uint32_t instruction = dag.instructions[receiver].sender;
    return splitFlags[instruction] ? secondHalf(instruction) : instruction;
  }

  /// The instruction as it will run: a split one is a receive that stores, and a send of what it stored.
  ir::Instruction asScheduled(uint32_t node) const;

  /// True if `later`, which depends on split instruction `instruction`, overwrites what the second half sends,
  /// or stands between it and those that do.
  bool overwrites(uint32_t later, uint32_t instruction) const;

private:
  std::vector<uint8_t> splitFlags;
  uint32_t splits = 0;
};

} // namespace gc3::schedule
