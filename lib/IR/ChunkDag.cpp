// SPDX-License-Identifier: Apache-2.0
// Names and dependencies of the Chunk DAG.
#include "gc3/IR/ChunkDag.h"
#include "gc3/IR/SlotTracker.h"

using namespace gc3::ir;

const char *gc3::ir::name(Protocol protocol) {
  switch (protocol) {
  case Protocol::Simple: return "Simple";
  case Protocol::LL: return "LL";
  case Protocol::LL128: return "LL128";
  }
  return "";
}

const std::string &ProgramInfo::bufferName(BufferId buffer) const {
  static const std::string input = "input";
  static const std::string output = "output";
  if (buffer == InputBuffer)
    return input;
  return buffer == OutputBuffer ? output : scratchNames[buffer - FirstScratchBuffer];
}

bool ProgramInfo::pinsThreadBlocks() const {
  return llvm::any_of(directives, [](const Directive &directive) {
    return directive.sendThreadBlock >= 0 || directive.recvThreadBlock >= 0;
  });
}

Dependencies gc3::ir::dependencies(const ChunkDag &dag, uint64_t maxLinks) {
  SlotMap slots(dag.bufferSizes, dag.info->bufferCount());
  SlotTracker tracker(slots.total());
  for (const ChunkOp &op : dag.ops) {
    if (op.kind != ChunkOpKind::Start)
      tracker.read(slots.slot(op.srcRank, op.srcBuffer, op.srcIndex), op.count);
    uint32_t dst = slots.slot(op.dstRank, op.dstBuffer, op.dstIndex);
    if (op.kind == ChunkOpKind::Reduce)
      tracker.read(dst, op.count);
    tracker.write(dst, op.count);
    if (tracker.links() > maxLinks)
      break;
    tracker.endNode();
  }
  return tracker.take();
}
