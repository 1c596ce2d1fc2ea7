// SPDX-License-Identifier: Apache-2.0
#include "core/WaitingText.h"

#include "gc3/Common/Opcode.h"

namespace gc3::core {

using namespace bundle;
using namespace common;

namespace {

struct BlockLocation {
  uint32_t rank, block; ///< `block` is the number within the rank
  const fbs::ThreadBlock &record;
};

BlockLocation find(const Program &program, uint32_t threadBlock) {
  uint32_t rank = 0;
  while (program.firstThreadBlock(rank + 1) <= threadBlock)
    ++rank;
  const uint32_t block = threadBlock - program.firstThreadBlock(rank);
  return {rank, block, program.rank(rank).threadBlocks[block]};
}

} // namespace

std::string describeWaiter(const Program &program, uint32_t threadBlock, uint32_t step, uint64_t tile) {
  const BlockLocation at = find(program, threadBlock);
  const fbs::Instruction &instruction = program.rank(at.rank).instructions[at.record.first_instruction() + step];
  return "rank " + std::to_string(at.rank) + " thread block " + std::to_string(at.block) + " step " +
         std::to_string(step) + " (" + traits(static_cast<Opcode>(instruction.opcode())).name + ", tile " +
         std::to_string(tile) + ") waits for ";
}

std::string awaitedMessage(const Program &program, uint32_t threadBlock) {
  const fbs::ThreadBlock &record = find(program, threadBlock).record;
  return "a message from rank " + std::to_string(record.recv_peer()) + " on channel " +
         std::to_string(record.channel());
}

std::string awaitedSlot(const Program &program, uint32_t threadBlock) {
  const fbs::ThreadBlock &record = find(program, threadBlock).record;
  return "a free slot to rank " + std::to_string(record.send_peer()) + " on channel " +
         std::to_string(record.channel());
}

static std::string beginOf(int32_t peer) {
  return "rank " + std::to_string(peer) + " to begin this call";
}

std::string awaitedReceiver(const Program &program, uint32_t threadBlock) {
  return beginOf(find(program, threadBlock).record.send_peer());
}

std::string awaitedSender(const Program &program, uint32_t threadBlock) {
  return beginOf(find(program, threadBlock).record.recv_peer());
}

std::string awaitedStep(const fbs::Wait &wait) {
  return "thread block " + std::to_string(wait.thread_block()) + " step " + std::to_string(wait.step());
}

} // namespace gc3::core
