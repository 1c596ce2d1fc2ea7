// SPDX-License-Identifier: Apache-2.0
// Explains a deadlock. Each stuck thread block waits for exactly one other thread block. So a walk along the waits
// leads into a cycle, or to a thread block that has ended. In the second case, the last wait never ends.
#include "Stages.h"
#include "gc3/Support/Quantity.h"

using namespace gc3::ir;
using namespace gc3::verify;

namespace {

struct Link {
  uint32_t next; // the thread block that it waits for
  std::string what;
};

} // namespace

static Link follow(const Program &program, const Connections &connections, const Execution &execution, uint32_t block) {
  const ThreadBlock &own = program.threadBlocks[block];
  switch (execution.blockedOn(block)) {
  case Blocked::OnWait: {
    Wait wait = execution.pendingWait(block);
    return {program.rankBegin[own.rank] + wait.threadBlock,
            "waits for tb " + std::to_string(wait.threadBlock) + " step " + std::to_string(wait.step)};
  }
  case Blocked::OnMessage:
    return {connections.all[connections.recvOf[block]].sender,
            "waits for a message from rank " + std::to_string(own.recvPeer)};
  case Blocked::OnSlot:
    return {connections.all[connections.sendOf[block]].receiver,
            "waits for a free slot to rank " + std::to_string(own.sendPeer)};
  case Blocked::No:
  case Blocked::Ended: break;
  }
  return {block, "has ended"};
}

Finding gc3::verify::describeDeadlock(const Program &program, const Connections &connections,
                                      const Execution &execution, uint32_t fifoSlots) {
  static constexpr size_t longest = 32;
  auto blocks = static_cast<uint32_t>(program.threadBlocks.size());
  uint32_t block = 0;
  while (execution.blockedOn(block) == Blocked::Ended)
    ++block;
  std::vector<uint8_t> seen(blocks);
  for (; !seen[block] && execution.blockedOn(block) != Blocked::Ended; // to the cycle, or to an ended block
       block = follow(program, connections, execution, block).next)
    seen[block] = 1;

  Finding finding{Finding::Deadlock,
                  "the program deadlocks with " + gc3::quantity(fifoSlots, "slot") + " per connection",
                  None,
                  {}};
  auto site = [&](uint32_t index) {
    return program.steps[program.threadBlocks[index].firstStep + execution.stepOf(index)].site;
  };
  if (execution.blockedOn(block) == Blocked::Ended) { // report a thread block that waits for the ended one
    for (uint32_t other = 0; other != blocks; ++other) {
      if (execution.blockedOn(other) == Blocked::Ended)
        continue;
      Link link = follow(program, connections, execution, other);
      if (link.next != block)
        continue;
      finding.notes.push_back(
          {describe(program, other, execution.stepOf(other)) + " " + link.what + ", whose thread block has ended",
           site(other)});
      break;
    }
    return finding;
  }
  uint32_t start = block;
  do {
    Link link = follow(program, connections, execution, block);
    if (finding.notes.size() < longest)
      finding.notes.push_back({describe(program, block, execution.stepOf(block)) + " " + link.what, site(block)});
    block = link.next;
  } while (block != start);
  return finding;
}
