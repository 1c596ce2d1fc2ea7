// SPDX-License-Identifier: Apache-2.0
// The instructions before fusion (GC3 section 4.2). The compiler does not store them: each has a number, from which
// functions compute the instruction. Two stored instructions per transfer would take three times the memory.
#pragma once

#include "gc3/IR/InstructionDag.h"

namespace gc3::lower {

/// Contiguous slots of one buffer.
struct Slice {
  ir::BufferId buffer;
  uint32_t first;
  uint32_t count;
  bool operator==(const Slice &) const = default;
};

/// A part is one parallel instance of an operation: the j-th of k works on the j-th of k equal contiguous parts of the
/// operation's range. Part p has number 2p for its send or its local instruction, and 2p + 1 for its receive; numbers
/// without an instruction are gaps.
class Unfused {
public:
  explicit Unfused(const ir::ChunkDag &chunks) : chunks(chunks), info(*chunks.info) {}

  const ir::ChunkDag &chunks;
  const ir::ProgramInfo &info;
  uint32_t subdivision = 1; ///< slots per chunk
  /// By part: its operation, and the first part of that operation. Empty if every operation has one part.
  struct Part {
    uint32_t operation;
    uint32_t first;
  };
  std::vector<Part> parts;
  ir::Dependencies edges;      ///< processing edges between numbers
  std::vector<uint8_t> wanted; ///< by number: 1 if it made a value that the postcondition requires at the end
  /// By number. If a local copy is left out, its entry is its only reader, and the reader's entry is the copy. All
  /// other entries are None. Empty if no copy is left out.
  std::vector<uint32_t> forwarded;
  /// By number. If a local reduce is left out, its entry is the receive that combines its message itself, and the
  /// receive's entry is the reduce. All other entries are None. Empty if no reduce is left out.
  std::vector<uint32_t> merged;

  /// Returns the count of numbers, including gaps.
  uint32_t size() const { return static_cast<uint32_t>(parts.empty() ? chunks.ops.size() : parts.size()) * 2; }
  const ir::ChunkOp &operation(uint32_t number) const {
    return chunks.ops[parts.empty() ? number / 2 : parts[number / 2].operation];
  }
  const ir::Directive &directive(uint32_t number) const { return info.directives[operation(number).directive]; }
  /// Returns the number of the parallel instance to which `number` belongs.
  uint32_t instance(uint32_t number) const { return parts.empty() ? 0 : number / 2 - parts[number / 2].first; }

  static bool isTransfer(const ir::ChunkOp &op) {
    return op.srcRank != op.dstRank && op.kind != ir::ChunkOpKind::Start;
  }
  bool isGap(uint32_t number) const {
    const ir::ChunkOp &op = operation(number);
    return !isTransfer(op) &&
           (isReceiveNumber(number) || op.kind == ir::ChunkOpKind::Start || replacement(number) != number);
  }
  /// Returns the number that stands for `number`: the reader of a left-out copy, the receive of a left-out reduce, or
  /// `number` itself.
  uint32_t replacement(uint32_t number) const {
    for (const std::vector<uint32_t> *partners : {&forwarded, &merged})
      if (!partners->empty() && (*partners)[number] != ir::None && !isTransfer(operation(number)))
        return (*partners)[number];
    return number;
  }
  /// Returns the left-out copy that `number` replaces by reading the copy's source, or None.
  uint32_t copyFor(uint32_t number) const {
    return forwarded.empty() || !isTransfer(operation(number)) ? ir::None : forwarded[number];
  }
  /// Returns the left-out reduce that the receive `number` replaces, or None.
  uint32_t reduceFor(uint32_t number) const {
    return merged.empty() || !isTransfer(operation(number)) ? ir::None : merged[number];
  }
  /// Returns true if the receive combines the received data with an operand.
  bool combines(uint32_t receive) const {
    return operation(receive).kind == ir::ChunkOpKind::Reduce || reduceFor(receive) != ir::None;
  }
  /// Returns true if the postcondition requires the value that the receive stores.
  bool isWanted(uint32_t receive) const {
    uint32_t reduce = reduceFor(receive);
    return wanted[reduce == ir::None ? receive : reduce] != 0;
  }
  bool isSend(uint32_t number) const { return !isReceiveNumber(number) && isTransfer(operation(number)); }
  /// Returns true if `number` belongs to a receive, and also for some gaps.
  static bool isReceiveNumber(uint32_t number) { return number % 2 != 0; }

  /// Returns the slots that a copy, a reduce or a send reads.
  Slice source(uint32_t number) const {
    uint32_t copy = isReceiveNumber(number) ? ir::None : copyFor(number);
    return slice(copy == ir::None ? number : copy, &ir::ChunkOp::srcBuffer, &ir::ChunkOp::srcIndex);
  }
  /// Returns the slots with which a receive combines the received data. If it replaces a local reduce, these are the
  /// reduce's source or its target: the one that was not received.
  Slice operand(uint32_t receive) const {
    if (uint32_t copy = copyFor(receive); copy != ir::None)
      return source(copy);
    uint32_t reduce = reduceFor(receive);
    return reduce != ir::None && ownTarget(receive) == ownTarget(reduce) ? source(reduce) : target(receive);
  }
  /// Returns the slots that an instruction writes.
  Slice target(uint32_t number) const {
    uint32_t reduce = isReceiveNumber(number) ? reduceFor(number) : ir::None;
    return ownTarget(reduce == ir::None ? number : reduce);
  }

  /// Calls `visit(on, isFalse)` for each instruction that instruction `number` depends on. An instruction that replaces
  /// others also has their dependencies, and instructions that depended on these depend on it.
  template <typename Visitor>
  void eachDependency(uint32_t number, Visitor visit) const {
    auto visitAll = [&](uint32_t of) {
      for (uint32_t i = edges.begin[of]; i != edges.begin[of + 1]; ++i)
        if (uint32_t on = replacement(edges.edges[i].node()); on != number)
          visit(on, edges.edges[i].isFalse());
    };
    for (uint32_t replaced : {copyFor(number), reduceFor(number)})
      if (replaced != ir::None)
        visitAll(replaced);
    visitAll(number);
  }

private:
  Slice ownTarget(uint32_t number) const { return slice(number, &ir::ChunkOp::dstBuffer, &ir::ChunkOp::dstIndex); }
  Slice slice(uint32_t number, ir::BufferId ir::ChunkOp::*buffer, uint32_t ir::ChunkOp::*index) const {
    const ir::ChunkOp &op = operation(number);
    if (parts.empty())
      return {op.*buffer, op.*index * subdivision, op.count * subdivision};
    uint32_t count = op.count * subdivision / info.directives[op.directive].parallel;
    return {op.*buffer, op.*index * subdivision + instance(number) * count, count};
  }
};

} // namespace gc3::lower
