// SPDX-License-Identifier: Apache-2.0
// Chunk operations to instructions (GC3 sections 4.2 and 5.1). An operation with k parallel instances becomes k
// operations, the j-th on the j-th of k equal contiguous parts of its range. Chunks are cut into slots fine enough for
// every such part to be whole, and dependencies are tracked anew on the slots: instances of operations with different
// counts depend on each other in other ways than the operations did.
#include "Stages.h"
#include "gc3/IR/SlotTracker.h"
#include "gc3/Support/Diagnostics.h"
#include <numeric>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::lower;

namespace {

class Expander {
public:
  Expander(const ChunkDag &dag, const Options &options, Diagnostics &diags)
      : chunks(dag), info(*dag.info), options(options), diags(diags) {}

  std::optional<Expanded> run();

private:
  bool chooseSubdivision();
  bool countInstructions();
  void scaleBuffers();
  void expandOperation(const ChunkOp &op);
  Instruction instruction(const ChunkOp &op, Opcode opcode, uint32_t rank, uint32_t instance) const;
  uint32_t add(const Instruction &instruction);
  void local(const ChunkOp &op, uint32_t instance);
  void transfer(const ChunkOp &op, uint32_t instance);
  std::vector<uint8_t> wantedAtEnd() const;

  const ChunkDag &chunks;
  const ProgramInfo &info;
  const Options &options;
  Diagnostics &diags;
  InstructionDag dag;
  uint64_t instructions = 0;
  std::optional<SlotMap> slots;
  std::optional<SlotTracker> tracker;
};

} // namespace

/// The least number of slots per chunk with which every part of every operation is a whole number of slots.
bool Expander::chooseSubdivision() {
  uint64_t chunksInAll = std::accumulate(chunks.bufferSizes.begin(), chunks.bufferSizes.end(), uint64_t(0));
  uint64_t subdivision = 1;
  for (const ChunkOp &op : chunks.ops) {
    uint32_t parallel = info.directives[op.directive].parallel;
    if (parallel == 1 || op.kind == ChunkOpKind::Start)
      continue;
    subdivision = std::lcm(subdivision, uint64_t(parallel / std::gcd(op.count, parallel)));
    if (subdivision * chunksInAll >= std::numeric_limits<uint32_t>::max()) {
      diags
          .error(DiagId::Subdivision, info.sites[op.site],
                 "the parallel instances cut the program's " + std::to_string(chunksInAll) + " chunks into " +
                     std::to_string(subdivision) +
                     " parts each, more than 2^32 in all; use fewer instances, or factors "
                     "that divide each other")
          .note(info.directives[op.directive].parallelSite,
                "this operation runs in " + std::to_string(parallel) + " instances because of this");
      return false;
    }
  }
  dag.subdivision = static_cast<uint32_t>(subdivision);
  return true;
}

bool Expander::countInstructions() {
  for (const ChunkOp &op : chunks.ops) {
    if (op.kind == ChunkOpKind::Start)
      continue;
    instructions += uint64_t(info.directives[op.directive].parallel) * (op.srcRank == op.dstRank ? 1 : 2);
    if (instructions > options.maxInstructions) {
      diags.error(DiagId::OperationBudget, info.sites[op.site],
                  "the program has more than " + std::to_string(options.maxInstructions) +
                      " instructions with this operation; use fewer parallel instances");
      return false;
    }
  }
  return true;
}

void Expander::scaleBuffers() {
  dag.info = chunks.info;
  dag.bufferSizes = chunks.bufferSizes;
  for (uint32_t &size : dag.bufferSizes)
    size *= dag.subdivision;
}

Instruction Expander::instruction(const ChunkOp &op, Opcode opcode, uint32_t rank, uint32_t instance) const {
  Instruction result{};
  result.opcode = opcode;
  result.rank = rank;
  uint32_t count = op.count * dag.subdivision / info.directives[op.directive].parallel;
  result.count = count;
  result.srcBuffer = op.srcBuffer;
  result.srcIndex = op.srcIndex * dag.subdivision + instance * count;
  result.dstBuffer = op.dstBuffer;
  result.dstIndex = op.dstIndex * dag.subdivision + instance * count;
  result.sender = result.receiver = result.chain = None;
  result.directive = result.sendDirective = op.directive;
  result.instance = instance;
  result.site = op.site;
  return result;
}

/// Tells the tracker what the instruction reads and writes.
uint32_t Expander::add(const Instruction &instruction) {
  tracker->begin();
  if (readsSrc(instruction.opcode))
    tracker->read(slots->slot(instruction.rank, instruction.srcBuffer, instruction.srcIndex), instruction.count);
  if (writesDst(instruction.opcode)) {
    uint32_t dst = slots->slot(instruction.rank, instruction.dstBuffer, instruction.dstIndex);
    if (combinesIntoDst(instruction.opcode))
      tracker->read(dst, instruction.count);
    tracker->write(dst, instruction.count);
  }
  dag.instructions.push_back(instruction);
  return static_cast<uint32_t>(dag.instructions.size()) - 1;
}

void Expander::local(const ChunkOp &op, uint32_t instance) {
  add(instruction(op, op.kind == ChunkOpKind::Copy ? Opcode::Copy : Opcode::Reduce, op.dstRank, instance));
}

void Expander::transfer(const ChunkOp &op, uint32_t instance) {
  Instruction send = instruction(op, Opcode::Send, op.srcRank, instance);
  send.dstBuffer = 0;
  send.dstIndex = 0;
  Instruction receive =
      instruction(op, op.kind == ChunkOpKind::Copy ? Opcode::Recv : Opcode::RecvReduceCopy, op.dstRank, instance);
  bool reads = readsSrc(receive.opcode);
  receive.srcBuffer = reads ? receive.dstBuffer : BufferId(0);
  receive.srcIndex = reads ? receive.dstIndex : 0;
  uint32_t sender = add(send);
  receive.sender = sender;
  dag.instructions[sender].receiver = add(receive);
}

void Expander::expandOperation(const ChunkOp &op) {
  if (op.kind == ChunkOpKind::Start)
    return;
  uint32_t parallel = info.directives[op.directive].parallel;
  for (uint32_t instance = 0; instance != parallel; ++instance)
    op.srcRank == op.dstRank ? local(op, instance) : transfer(op, instance);
}

std::vector<uint8_t> Expander::wantedAtEnd() const {
  const Collective &collective = info.collective;
  std::vector<uint8_t> wanted(dag.instructions.size());
  for (uint32_t rank = 0; rank != collective.ranks; ++rank) {
    for (uint32_t index = 0; index != collective.size(rank, OutputBuffer); ++index) {
      if (collective.post.wanted(rank, index) == Postcondition::Anything)
        continue;
      Location location = canonical(collective, {rank, OutputBuffer, index});
      uint32_t first = slots->slot(rank, location.buffer, location.index * dag.subdivision);
      for (uint32_t slot = first; slot != first + dag.subdivision; ++slot)
        if (uint32_t writer = tracker->writer(slot); writer != SlotTracker::Nobody)
          wanted[writer] = 1;
    }
  }
  return wanted;
}

std::optional<Expanded> Expander::run() {
  if (!chooseSubdivision() || !countInstructions())
    return std::nullopt;
  scaleBuffers();
  dag.instructions.reserve(instructions);
  slots.emplace(dag.bufferSizes, info.bufferCount());
  tracker.emplace(slots->total());
  for (const ChunkOp &op : chunks.ops)
    expandOperation(op);
  Expanded result;
  result.wantedAtEnd = wantedAtEnd();
  dag.edges = tracker->take();
  result.dag = std::move(dag);
  return result;
}

std::optional<Expanded> gc3::lower::expand(const ChunkDag &dag, const Options &options, Diagnostics &diags) {
  return Expander(dag, options, diags).run();
}
