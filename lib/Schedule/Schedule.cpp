// SPDX-License-Identifier: Apache-2.0
// Schedules one program, and assembles the result: steps by thread block, in the global order.
#include "gc3/Schedule/Schedule.h"
#include "Stages.h"
#include "gc3/Support/Diagnostics.h"
#include <utility>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::schedule;

static Step makeStep(const Nodes &nodes, uint32_t node) {
  Instruction instruction = nodes.asScheduled(node);
  Step step{};
  step.opcode = instruction.opcode;
  step.srcBuffer = readsSrc(step.opcode) ? instruction.srcBuffer : BufferId(0);
  step.srcIndex = readsSrc(step.opcode) ? instruction.srcIndex : 0;
  step.dstBuffer = writesDst(step.opcode) ? instruction.dstBuffer : BufferId(0);
  step.dstIndex = writesDst(step.opcode) ? instruction.dstIndex : 0;
  step.count = instruction.count;
  step.site = instruction.site;
  return step;
}

/// Sorts the waits by step, so that later passes over the steps read both arrays from front to back.
static std::vector<Wait> sortByStep(std::vector<Step> &steps, const std::vector<Wait> &waits) {
  std::vector<Wait> sorted;
  sorted.reserve(waits.size());
  for (Step &step : steps) {
    auto first = waits.begin() + step.waitBegin;
    step.waitBegin = static_cast<uint32_t>(sorted.size());
    sorted.insert(sorted.end(), first, first + step.waitCount);
  }
  return sorted;
}

static Program assemble(const Nodes &nodes, ThreadBlocks &&blocks, Waits &&waits, const std::vector<uint32_t> &order,
                        const Options &options) {
  Program program;
  program.info = nodes.dag.info;
  program.subdivision = nodes.dag.subdivision;
  program.fifoSlots = options.fifoSlots;
  program.bufferSizes = nodes.dag.bufferSizes;
  program.threadBlocks = std::move(blocks.blocks);
  program.rankBegin = std::move(blocks.rankBegin);
  program.steps.resize(order.size());
  for (uint32_t position = 0; position != order.size(); ++position) {
    uint32_t node = order[position];
    BlockStep place = blocks.placeOf[node];
    Step &step = program.steps[program.threadBlocks[place.block].firstStep + place.step];
    step = makeStep(nodes, node);
    step.waitBegin = waits.begin[position];
    step.waitCount = waits.begin[position + 1] - waits.begin[position];
  }
  program.waits = sortByStep(program.steps, waits.waits);
  return program;
}

/// Runs all stages. After each stage, frees the data that later stages do not need, before the next stage allocates
/// memory.
static std::optional<Program> scheduleWith(const InstructionDag &dag, const Options &options, uint32_t newChannels,
                                           Diagnostics &diags) {
  Instructions instructions(dag);
  std::optional<Channels> channels = assignChannels(instructions, options, newChannels, diags);
  if (!channels || !shareFrames(channels->frames, *dag.info, options, diags))
    return std::nullopt;
  Nodes nodes(instructions, std::exchange(channels->connectionOf, {}), priorities(dag));
  Order order = orderNodes(nodes, static_cast<uint32_t>(channels->frames.connections().size()), options.fifoSlots);
  nodes.dropPlaces();
  ThreadBlocks blocks = assignThreadBlocks(nodes, *channels, order);
  channels.reset();
  Waits waits = insertWaits(nodes, blocks, order, options.wholeMessages);
  order.segmentOf = std::vector<uint32_t>();
  nodes.dropDependencies();
  return assemble(nodes, std::move(blocks), std::move(waits), order.nodes, options);
}

std::optional<Program> gc3::schedule::schedule(const InstructionDag &dag, const Options &options, Diagnostics &diags) {
  // Additional channels keep more chains whole, but cost thread blocks. If the first attempt fails, schedules again
  // with one channel, and reports only the errors of this second attempt.
  static constexpr uint32_t generous = 32;
  SourceManager nothing;
  Diagnostics silent(nothing, 1);
  if (std::optional<Program> program = scheduleWith(dag, options, generous, silent))
    return program;
  return scheduleWith(dag, options, 1, diags);
}
