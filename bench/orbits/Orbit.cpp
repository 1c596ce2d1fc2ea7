// SPDX-License-Identifier: Apache-2.0
#include "Orbit.h"
#include "Engine.h"
#include "Symmetry.h"
#include <sstream>

namespace gc3::simulate {

using common::Opcode;
using kernel::OpcodeFlags;

uint64_t Orbit::stepsOf(uint32_t block) const {
  uint64_t sum = 0;
  for (const Step &step : blocks[block].steps)
    sum += step.times;
  return sum;
}

uint64_t Orbit::steps() const {
  uint64_t sum = 0;
  for (uint32_t block = 0; block < blocks.size(); ++block)
    sum += stepsOf(block);
  return sum * ranks();
}

namespace {

std::optional<Opcode> opcodeOf(const std::string &name) {
  for (unsigned i = 0; i < common::opcodeCount; ++i)
    if (name == common::opcodeTraits[i].name)
      return static_cast<Opcode>(i);
  return {};
}

/// Parses `count [after BLOCK STEP] [x TIMES]`.
bool parseStep(std::istringstream &line, Orbit::Step &step) {
  if (!(line >> step.count) || step.count == 0)
    return false;
  for (std::string word; line >> word;)
    if (word == "x" ? !(line >> step.times) : word != "after" || !(line >> step.block >> step.step))
      return false;
  return true;
}

bool parseLine(const std::string &text, Orbit &orbit) {
  std::istringstream line(text.substr(0, text.find('#')));
  std::string word;
  if (!(line >> word))
    return true;
  if (word == "grid")
    return line >> orbit.nodes >> orbit.gpus && orbit.ranks() > 1;
  if (word == "chunks")
    return line >> orbit.chunks && orbit.chunks > 0;
  if (word == "message")
    return line >> orbit.message && orbit.message > 0;
  if (word == "tb") {
    orbit.blocks.push_back({0, 0, {}});
    return static_cast<bool>(line >> orbit.blocks.back().nodes >> orbit.blocks.back().gpus);
  }
  const std::optional<Opcode> opcode = opcodeOf(word);
  if (!opcode || orbit.blocks.empty())
    return false;
  orbit.blocks.back().steps.push_back({*opcode, 0, 1});
  return parseStep(line, orbit.blocks.back().steps.back());
}

/// Lists the thread blocks of all ranks.
class Expansion {
public:
  Expansion(const Orbit &orbit, uint32_t batch, Whole &whole) : orbit(orbit), batch(batch), whole(whole) {}

  void expand() {
    for (const Orbit::Block &block : orbit.blocks)
      listSteps(block);
    for (uint32_t rank = 0; rank < orbit.ranks(); ++rank)
      for (uint32_t i = 0; i < orbit.blocks.size(); ++i)
        addBlock(rank, i);
  }

private:
  uint32_t count() const { return static_cast<uint32_t>(orbit.blocks.size()); }
  uint32_t numberOf(uint32_t rank, uint32_t block) const { return rank * count() + block; }

  void listSteps(const Orbit::Block &block) {
    StepTable &table = whole.table;
    std::vector<uint32_t> awaited; // blocks of the rank
    table.begin();
    const auto firstWait = static_cast<uint32_t>(table.waits.size());
    for (const Orbit::Step &step : block.steps) {
      const uint32_t waits = step.block == Whole::None ? 0 : 1;
      for (uint32_t i = 0; i < step.times; ++i) {
        const auto first = static_cast<uint32_t>(table.waits.size()) - firstWait;
        // All steps count as awaited: this only makes the engine store the times of their ends.
        table.steps.push_back({OpcodeFlags(step.opcode), true, step.count, first, waits, 0, Whole::None, 0});
        if (waits)
          table.waits.push_back({static_cast<uint32_t>(awaited.size()), step.step});
      }
      if (waits)
        awaited.push_back(step.block);
    }
    lists.push_back(table.end());
    awaitedBy.push_back(std::move(awaited));
  }

  void addBlock(uint32_t rank, uint32_t number) {
    const Orbit::Block &block = orbit.blocks[number];
    const uint32_t node = rank / orbit.gpus, gpu = rank % orbit.gpus;
    const uint32_t to = (node + block.nodes) % orbit.nodes * orbit.gpus + (gpu + block.gpus) % orbit.gpus;
    const uint32_t from = (node + orbit.nodes - block.nodes % orbit.nodes) % orbit.nodes * orbit.gpus +
                          (gpu + orbit.gpus - block.gpus % orbit.gpus) % orbit.gpus;
    const uint32_t self = numberOf(rank, number);
    const auto firstAwaited = static_cast<uint32_t>(whole.awaited.size());
    for (uint32_t other : awaitedBy[number])
      whole.awaited.push_back(numberOf(rank, other));
    whole.blocks.push_back({rank, lists[number], self, numberOf(from, number), batch, firstAwaited,
                            static_cast<uint32_t>(awaitedBy[number].size()), Whole::None});
    whole.connections.push_back({self, numberOf(to, number), false, 0, Whole::None});
  }

  const Orbit &orbit;
  const uint32_t batch;
  Whole &whole;
  std::vector<uint32_t> lists;                  ///< by block of a rank: its steps in the table
  std::vector<std::vector<uint32_t>> awaitedBy; ///< by block of a rank: blocks that it awaits
};

} // namespace

std::optional<Orbit> parseOrbit(const std::string &text, std::string &error) {
  Orbit orbit;
  std::istringstream lines(text);
  uint32_t number = 1;
  for (std::string line; std::getline(lines, line); ++number)
    if (!parseLine(line, orbit)) {
      error = std::to_string(number) + ": wrong line '" + line + "'";
      return {};
    }
  if (orbit.ranks() == 0 || orbit.chunks == 0 || orbit.message == 0 || orbit.blocks.empty()) {
    error = std::to_string(number) + ": 'grid', 'chunks', 'message' or 'tb' is missing";
    return {};
  }
  for (const Orbit::Block &block : orbit.blocks)
    for (const Orbit::Step &step : block.steps)
      if (step.block != Whole::None && (step.block >= orbit.blocks.size() || step.step >= orbit.stepsOf(step.block))) {
        error = std::to_string(number) + ": a step waits for one that does not exist";
        return {};
      }
  return orbit;
}

std::string simulateOrbit(const Orbit &orbit, const Fabric &fabric, const plan::SlotSizes &slots, uint64_t bytes,
                          Prediction &prediction) {
  constexpr uint32_t elementBytes = 4;
  if (fabric.topology().ranks != orbit.ranks())
    return "the topology has " + std::to_string(fabric.topology().ranks) + " ranks, but the grid has " +
           std::to_string(orbit.ranks());
  if (bytes % (uint64_t{elementBytes} * orbit.chunks) != 0)
    return std::to_string(orbit.chunks) + " chunks don't divide " + std::to_string(bytes / elementBytes) + " elements";
  kernel::KernelArgs geometry{};
  if (!setTiles(bytes / elementBytes / orbit.chunks, orbit.message, elementBytes, slots, geometry))
    return "a FIFO slot can't hold the largest message";
  Workload workload;
  workload.setCosts(geometry, elementBytes, slots.protocol, fabric.topology().costs);
  Whole whole;
  Expansion(orbit, plan::slotsPerReturn(slots.slots, 1), whole).expand();
  if (addRoutes(fabric, slots.protocol, workload.wireFactor(), whole))
    return "no route leads to a receiver";
  prediction.threadBlocks = static_cast<uint32_t>(whole.blocks.size());
  Partition partition = findSymmetry(whole);
  workload.merge(std::move(whole), std::move(partition));
  prediction.simulatedBlocks = static_cast<uint32_t>(workload.blocks.size());
  prediction.tiles = workload.tiles();
  prediction.instructions = prediction.tiles * orbit.steps();
  Engine engine(workload, nullptr, false);
  if (!engine.run())
    return engine.describeDeadlock();
  prediction.time = engine.time();
  return {};
}

} // namespace gc3::simulate
