// SPDX-License-Identifier: Apache-2.0
#include "Draft.h"
#include <map>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::mutation;

Draft::Draft(const Program &program)
    : info(program.info), subdivision(program.subdivision), fifoSlots(program.fifoSlots),
      bufferSizes(program.bufferSizes), ranks(program.ranks()) {
  for (const ThreadBlock &from : program.threadBlocks) {
    Block block{from.channel, from.sendPeer, from.recvPeer, {}};
    for (uint32_t i = from.firstStep; i != from.firstStep + from.stepCount; ++i) {
      const ir::Step &step = program.steps[i];
      auto waits = program.waits.begin() + step.waitBegin;
      block.steps.push_back({step, {waits, waits + step.waitCount}});
    }
    ranks[from.rank].push_back(std::move(block));
  }
}

Program Draft::program() const {
  Program result;
  result.info = info;
  result.subdivision = subdivision;
  result.fifoSlots = fifoSlots;
  result.bufferSizes = bufferSizes;
  for (uint32_t rank = 0; rank != ranks.size(); ++rank) {
    for (const Block &block : ranks[rank]) {
      result.threadBlocks.push_back({rank, block.channel, block.sendPeer, block.recvPeer,
                                     static_cast<uint32_t>(result.steps.size()),
                                     static_cast<uint32_t>(block.steps.size())});
      for (const StepWithWaits &step : block.steps) {
        result.steps.push_back(step);
        result.steps.back().waitBegin = static_cast<uint32_t>(result.waits.size());
        result.steps.back().waitCount = static_cast<uint32_t>(step.waits.size());
        result.waits.insert(result.waits.end(), step.waits.begin(), step.waits.end());
      }
    }
    result.rankBegin.push_back(static_cast<uint32_t>(result.threadBlocks.size()));
  }
  return result;
}

std::vector<StepAddress> Draft::places(const std::function<bool(StepAddress, const StepWithWaits &)> &wanted) const {
  std::vector<StepAddress> result;
  for (uint32_t rank = 0; rank != ranks.size(); ++rank)
    for (uint32_t block = 0; block != ranks[rank].size(); ++block)
      for (uint32_t step = 0; step != ranks[rank][block].steps.size(); ++step)
        if (wanted({rank, block, step}, ranks[rank][block].steps[step]))
          result.push_back({rank, block, step});
  return result;
}

void Draft::moveWaits(uint32_t rank, const std::function<std::optional<Wait>(Wait)> &to) {
  for (Block &block : ranks[rank])
    for (StepWithWaits &step : block.steps) {
      std::vector<Wait> moved;
      for (const Wait &wait : step.waits)
        if (std::optional<Wait> target = to(wait))
          moved.push_back(*target);
      step.waits = std::move(moved);
    }
}

void Draft::erase(StepAddress place) {
  std::vector<StepWithWaits> &steps = block(place).steps;
  steps.erase(steps.begin() + place.step);
  moveWaits(place.rank, [&](Wait wait) -> std::optional<Wait> {
    if (wait.threadBlock != place.block || wait.step < place.step)
      return wait;
    if (wait.step == 0)
      return std::nullopt;
    return Wait{wait.threadBlock, wait.step - 1};
  });
}

void Draft::insertBehind(StepAddress place, StepWithWaits step) {
  std::vector<StepWithWaits> &steps = block(place).steps;
  steps.insert(steps.begin() + place.step + 1, std::move(step));
  moveWaits(place.rank, [&](Wait wait) -> std::optional<Wait> {
    bool moved = wait.threadBlock == place.block && wait.step > place.step;
    return Wait{wait.threadBlock, wait.step + moved};
  });
}

std::vector<Message> gc3::mutation::messages(const Draft &draft) {
  using Connection = std::tuple<uint32_t, uint32_t, uint32_t>; // source, destination, channel
  std::map<Connection, std::pair<std::vector<StepAddress>, std::vector<StepAddress>>> ends;
  for (StepAddress place : draft.places([](StepAddress, const Draft::StepWithWaits &) { return true; })) {
    const Draft::Block &block = draft.ranks[place.rank][place.block];
    Opcode opcode = block.steps[place.step].opcode;
    if (sends(opcode))
      ends[{place.rank, block.sendPeer, block.channel}].first.push_back(place);
    if (receives(opcode))
      ends[{block.recvPeer, place.rank, block.channel}].second.push_back(place);
  }
  std::vector<Message> result;
  for (const auto &[connection, places] : ends)
    for (size_t i = 0; i != std::min(places.first.size(), places.second.size()); ++i)
      result.push_back({places.first[i], places.second[i]});
  return result;
}
