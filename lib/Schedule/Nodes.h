// SPDX-License-Identifier: Apache-2.0
// The nodes that the scheduler orders: instructions, some of them split again into a receive and a send.
//
// Nodes 0 to n - 1 are numbered by priority. Each is an instruction, or the receiving half of a split instruction. The
// order of execution is close to this numbering, so passes in that order access memory from front to back. Nodes from n
// on are the sending halves.
#pragma once

#include "gc3/IR/InstructionDag.h"

namespace gc3::schedule {

using ir::None;

/// Instructions, with a flag for each fused instruction that is split and runs as a receive and a send. The scheduler
/// splits an instruction if the thread blocks of a channel do not allow the fusion.
class Instructions {
public:
  explicit Instructions(const ir::InstructionDag &dag)
      : dag(dag), n(static_cast<uint32_t>(dag.instructions.size())), splitFlags(dag.instructions.size()) {}

  const ir::InstructionDag &dag;
  const uint32_t n;

  const ir::Instruction &at(uint32_t instruction) const { return dag.instructions[instruction]; }
  void split(uint32_t instruction) { splitFlags[instruction] = 1; }
  bool isSplit(uint32_t instruction) const { return splitFlags[instruction] != 0; }
  bool fused(uint32_t instruction) const {
    ir::Opcode opcode = at(instruction).opcode;
    return receives(opcode) && sends(opcode) && !splitFlags[instruction];
  }

private:
  std::vector<uint8_t> splitFlags;
};

class Nodes {
public:
  /// `connectionOf`: by instruction, the connection of the message that it receives. `priorities`: by instruction, its
  /// position in the order of priority.
  Nodes(const Instructions &instructions, std::vector<uint32_t> connectionOf, std::vector<uint32_t> priorities);

  const ir::InstructionDag &dag;
  const uint32_t n;

  uint32_t total() const { return static_cast<uint32_t>(nodes.size()); }
  bool isSecondHalf(uint32_t node) const { return node >= n; }
  uint32_t first(uint32_t node) const { return node >= n ? firstOf[node - n] : node; }
  bool isSplit(uint32_t node) const { return node < n && !halfOf.empty() && halfOf[node] != None; }
  uint32_t secondHalf(uint32_t first) const { return halfOf[first]; }
  /// Returns a number that orders all nodes by priority: the second half of a split node comes right after its first
  /// half.
  uint32_t priorityOf(uint32_t node) const { return isSecondHalf(node) ? 2 * first(node) + 1 : 2 * node; }
  uint32_t nodeWithPriority(uint32_t priority) const {
    return (priority & 1) != 0 ? secondHalf(priority / 2) : priority / 2;
  }
  /// Splits a fused node and returns its second half.
  uint32_t split(uint32_t node);

  /// Return the connection of the message that the node receives or sends, or None.
  uint32_t incoming(uint32_t node) const { return nodes[node].incoming; }
  uint32_t outgoing(uint32_t node) const { return nodes[node].outgoing; }
  /// Returns the node that receives the message of this node, or None.
  uint32_t receiver(uint32_t node) const { return nodes[node].receiver; }
  bool receives(uint32_t node) const { return nodes[node].incoming != None; }
  bool sends(uint32_t node) const { return nodes[node].outgoing != None; }
  bool fused(uint32_t node) const { return receives(node) && sends(node); }
  bool isLocal(uint32_t node) const { return !receives(node) && !sends(node); }
  uint32_t sender(uint32_t receiver) const;

  const ir::Instruction &at(uint32_t node) const { return dag.instructions[nodes[node].instruction]; }
  uint32_t nodeOf(uint32_t instruction) const { return placeOf[instruction]; }
  /// Frees memory. nodeOf() and sender() must not be called afterwards.
  void dropPlaces() { placeOf = std::vector<uint32_t>(); }

  /// Nodes below n depend on nodes `dependencies[begin[node]]` to `dependencies[begin[node + 1] - 1]`, in the order of
  /// the Instruction DAG's edges. A second half depends on its first half.
  std::vector<uint32_t> begin;
  std::vector<uint32_t> dependencies;
  /// Frees the memory of `begin` and `dependencies`, which must not be used afterwards.
  void dropDependencies() { begin = dependencies = std::vector<uint32_t>(); }

  /// Returns the instruction as it will run. A split instruction runs as a receive that stores, and a send of the
  /// stored data.
  ir::Instruction asScheduled(uint32_t node) const;

  /// Returns true if `later` overwrites the data that the second half of the split node `first` sends. Also returns
  /// true if `later` is an rrs on which overwriting instructions depend. `later` must depend on `first`.
  bool overwrites(uint32_t later, uint32_t first) const;

private:
  struct Node {
    uint32_t instruction;
    uint32_t incoming;
    uint32_t outgoing;
    uint32_t receiver;
  };
  void mapDependencies();

  std::vector<Node> nodes;
  std::vector<uint32_t> placeOf; // node of an instruction
  std::vector<uint32_t> halfOf;  // second half of a first half; empty until a node is split
  std::vector<uint32_t> firstOf; // first half of a second half
};

} // namespace gc3::schedule
