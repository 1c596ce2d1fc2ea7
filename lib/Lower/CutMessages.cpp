// SPDX-License-Identifier: Apache-2.0
// Cuts messages into pieces of one slot. An instruction that sends or receives n slots becomes n instructions, and a
// chain becomes n chains; local instructions stay whole. Dependencies are tracked again, on slots: a piece waits only
// for pieces whose slots it touches. The pieces of an instruction take its place in the list, so the list stays a
// topological order. Linear in the slots that instructions touch.
#include "gc3/IR/SlotTracker.h"
#include "gc3/Lower/Lower.h"

using namespace gc3::ir;

namespace {

class Cutter {
public:
  explicit Cutter(const InstructionDag &dag)
      : dag(dag), slots(dag.bufferSizes, dag.info->bufferCount()), tracker(slots.total()),
        firstPiece(dag.instructions.size()) {}

  InstructionDag run();

private:
  void addPiece(const Instruction &whole, uint32_t number);
  void connect(Instruction &piece, const Instruction &whole, uint32_t number);
  void track(const Instruction &piece);
  Dependencies takeEdges();

  const InstructionDag &dag;
  SlotMap slots;
  SlotTracker tracker;
  std::vector<uint32_t> firstPiece; // by instruction
  InstructionDag result;
};

} // namespace

/// Links the k-th piece of a receive to the k-th piece of its sender. Each piece of another send begins a chain.
void Cutter::connect(Instruction &piece, const Instruction &whole, uint32_t number) {
  if (whole.sender != None) {
    piece.sender = firstPiece[whole.sender] + number;
    Instruction &sender = result.instructions[piece.sender];
    sender.receiver = static_cast<uint32_t>(result.instructions.size());
    piece.chain = sender.chain;
  } else {
    piece.chain = static_cast<uint32_t>(result.chains.size());
    result.chains.push_back(dag.chains[whole.chain]);
  }
}

/// Gives the tracker two numbers for each piece: under the second, a fused piece reads what it sends. So an instruction
/// that overwrites the sent slots depends on the piece, even if other instructions read the same slots later. The
/// scheduler needs this edge when it splits the piece.
void Cutter::track(const Instruction &piece) {
  uint32_t source = slots.slot(piece.rank, piece.srcBuffer, piece.srcIndex);
  bool keeps = piece.opcode != Opcode::RecvReduceSend; // an rrs stores its sum only after a split, over its operand
  uint32_t target = keeps ? slots.slot(piece.rank, piece.dstBuffer, piece.dstIndex) : source;
  bool passesOn = receives(piece.opcode) && sends(piece.opcode);
  if (readsSrc(piece.opcode))
    tracker.read(source, piece.count);
  if (combinesIntoDst(piece.opcode))
    tracker.read(target, piece.count);
  if (writesDst(piece.opcode) || !keeps)
    tracker.write(target, piece.count);
  tracker.endNode();
  if (passesOn)
    tracker.read(target, piece.count);
  tracker.endNode();
}

/// Converts edges between tracker numbers into edges between pieces.
Dependencies Cutter::takeEdges() {
  Dependencies tracked = tracker.take();
  EdgeCollector edges;
  for (uint32_t piece = 0; piece != result.instructions.size(); ++piece) {
    for (uint32_t i = tracked.begin[2 * piece]; i != tracked.begin[2 * piece + 1]; ++i)
      edges.add(tracked.edges[i].node() / 2, tracked.edges[i].isFalse());
    edges.endNode();
  }
  return edges.take();
}

void Cutter::addPiece(const Instruction &whole, uint32_t number) {
  Instruction piece = whole;
  if (receives(whole.opcode) || sends(whole.opcode)) {
    piece.srcIndex += readsSrc(whole.opcode) ? number : 0;
    piece.dstIndex += writesDst(whole.opcode) ? number : 0;
    piece.count = 1;
    connect(piece, whole, number);
  }
  track(piece);
  result.instructions.push_back(piece);
}

InstructionDag Cutter::run() {
  result.info = dag.info;
  result.subdivision = dag.subdivision;
  result.bufferSizes = dag.bufferSizes;
  for (uint32_t i = 0; i != dag.instructions.size(); ++i) {
    const Instruction &whole = dag.instructions[i];
    firstPiece[i] = static_cast<uint32_t>(result.instructions.size());
    uint32_t pieces = receives(whole.opcode) || sends(whole.opcode) ? whole.count : 1;
    for (uint32_t number = 0; number != pieces; ++number)
      addPiece(whole, number);
  }
  result.edges = takeEdges();
  return std::move(result);
}

InstructionDag gc3::lower::cutMessages(const InstructionDag &dag) {
  return Cutter(dag).run();
}
