// SPDX-License-Identifier: Apache-2.0
// Cuts messages into parts of one slot. An instruction that sends or receives n slots becomes n instructions, and a
// chain becomes n chains; local instructions stay whole. Dependencies are tracked again, on slots, so that a part waits
// only for parts whose slots it touches. The parts of an instruction take its place in the list, so the list stays a
// topological order. Linear in the slots that instructions touch.
#include "gc3/IR/SlotTracker.h"
#include "gc3/Lower/Lower.h"

using namespace gc3::ir;

namespace {

class Cutter {
public:
  explicit Cutter(const InstructionDag &dag)
      : dag(dag), slots(dag.bufferSizes, dag.info->bufferCount()), tracker(slots.total()),
        firstPart(dag.instructions.size()) {}

  InstructionDag run();

private:
  void addPart(const Instruction &whole, uint32_t number);
  void connect(Instruction &part, const Instruction &whole, uint32_t number);
  void track(const Instruction &part);
  Dependencies takeEdges();

  const InstructionDag &dag;
  SlotMap slots;
  SlotTracker tracker;
  std::vector<uint32_t> firstPart; // index of the first part in `result`, by instruction
  InstructionDag result;
};

} // namespace

/// Links the k-th part of a receive to the k-th part of its sender. If `whole` receives nothing, its part begins a
/// chain.
void Cutter::connect(Instruction &part, const Instruction &whole, uint32_t number) {
  if (whole.sender != None) {
    part.sender = firstPart[whole.sender] + number;
    Instruction &sender = result.instructions[part.sender];
    sender.receiver = static_cast<uint32_t>(result.instructions.size());
    part.chain = sender.chain;
  } else {
    part.chain = static_cast<uint32_t>(result.chains.size());
    result.chains.push_back(dag.chains[whole.chain]);
  }
}

/// Gives the tracker two nodes for each part. The second node of a fused part reads the slots that the part sends. So
/// an instruction that overwrites these slots depends on the part, even if other instructions read the slots later. The
/// scheduler needs this edge when it splits the part.
void Cutter::track(const Instruction &part) {
  uint32_t source = slots.slot(part.rank, part.srcBuffer, part.srcIndex);
  uint32_t target = slots.slot(part.rank, part.dstBuffer, part.dstIndex);
  bool passesOn = receives(part.opcode) && sends(part.opcode);
  if (readsSrc(part.opcode))
    tracker.read(source, part.count);
  if (combinesIntoDst(part.opcode))
    tracker.read(target, part.count);
  if (hasDst(part.opcode))
    tracker.write(target, part.count);
  tracker.endNode();
  if (passesOn)
    tracker.read(target, part.count);
  tracker.endNode();
}

/// Converts edges between tracker numbers into edges between parts.
Dependencies Cutter::takeEdges() {
  Dependencies tracked = tracker.take();
  EdgeCollector edges;
  for (uint32_t part = 0; part != result.instructions.size(); ++part) {
    for (uint32_t i = tracked.begin[2 * part]; i != tracked.begin[2 * part + 1]; ++i)
      edges.add(tracked.edges[i].node() / 2, tracked.edges[i].isFalse());
    edges.endNode();
  }
  return edges.take();
}

void Cutter::addPart(const Instruction &whole, uint32_t number) {
  Instruction part = whole;
  if (receives(whole.opcode) || sends(whole.opcode)) {
    part.srcIndex += readsSrc(whole.opcode) ? number : 0;
    part.dstIndex += hasDst(whole.opcode) ? number : 0;
    part.count = 1;
    connect(part, whole, number);
  }
  track(part);
  result.instructions.push_back(part);
}

InstructionDag Cutter::run() {
  result.info = dag.info;
  result.subdivision = dag.subdivision;
  result.bufferSizes = dag.bufferSizes;
  for (uint32_t i = 0; i != dag.instructions.size(); ++i) {
    const Instruction &whole = dag.instructions[i];
    firstPart[i] = static_cast<uint32_t>(result.instructions.size());
    uint32_t parts = receives(whole.opcode) || sends(whole.opcode) ? whole.count : 1;
    for (uint32_t number = 0; number != parts; ++number)
      addPart(whole, number);
  }
  result.edges = takeEdges();
  return std::move(result);
}

InstructionDag gc3::lower::cutMessages(const InstructionDag &dag) {
  return Cutter(dag).run();
}
