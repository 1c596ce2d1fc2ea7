// SPDX-License-Identifier: Apache-2.0
// Compares the replay of random programs with a simple simulation: in each tick, every thread block runs its next step
// if it can. Also tests that names of programs stay text in pictures, whatever characters they contain.
#include "gc3/Emit/Replay.h"
#include "RandomProgram.h"
#include "gc3/Emit/Dot.h"
#include "gc3/Emit/Html.h"
#include "gc3/IR/SlotTracker.h"
#include "gc3/Lower/Lower.h"
#include "gc3/Schedule/Schedule.h"
#include "gc3/Support/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>
#include <map>
#include <tuple>

using namespace gc3;
using namespace gc3::ir;

namespace {

using Multiset = std::map<uint32_t, uint64_t>; // maps the number of an input value to its multiplicity

struct Simulation {
  explicit Simulation(const Program &program);
  void run();

  std::vector<uint32_t> tick;                // for each step
  std::vector<std::vector<Multiset>> values; // for each step: the values that it stores or sends

private:
  using Fifo = std::vector<std::vector<Multiset>>;
  Fifo &incoming(const ThreadBlock &block);
  Fifo &outgoing(const ThreadBlock &block);
  bool canRun(uint32_t block);
  void execute(uint32_t block);
  Multiset &slot(const ThreadBlock &block, BufferId buffer, uint32_t index);

  const Program &program;
  SlotMap map;
  std::vector<Multiset> memory;
  std::vector<uint32_t> position; // for each thread block
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Fifo> fifos;
};

} // namespace

Simulation::Simulation(const Program &program)
    : tick(program.steps.size()), values(program.steps.size()), program(program),
      map(program.bufferSizes, program.info->bufferCount()), memory(map.total()),
      position(program.threadBlocks.size()) {
  const Collective &collective = program.info->collective;
  uint32_t value = 0;
  for (uint32_t rank = 0; rank != program.ranks(); ++rank)
    for (uint32_t i = 0; i != collective.size(rank, InputBuffer) * program.subdivision; ++i) {
      Location place = canonical(collective, {rank, InputBuffer, i}, program.subdivision);
      memory[map.slot(rank, place.buffer, place.index)] = {{value++, 1}};
    }
}

Simulation::Fifo &Simulation::incoming(const ThreadBlock &block) {
  return fifos[{static_cast<uint32_t>(block.recvPeer), block.rank, block.channel}];
}

Simulation::Fifo &Simulation::outgoing(const ThreadBlock &block) {
  return fifos[{block.rank, static_cast<uint32_t>(block.sendPeer), block.channel}];
}

Multiset &Simulation::slot(const ThreadBlock &block, BufferId buffer, uint32_t index) {
  return memory[map.slot(block.rank, buffer, index)];
}

bool Simulation::canRun(uint32_t index) {
  const ThreadBlock &block = program.threadBlocks[index];
  if (position[index] == block.stepCount)
    return false;
  const Step &step = program.steps[block.firstStep + position[index]];
  for (uint32_t i = 0; i != step.waitCount; ++i) {
    const Wait &wait = program.waits[step.waitBegin + i];
    if (position[program.rankBegin[block.rank] + wait.threadBlock] <= wait.step)
      return false;
  }
  return (!receives(step.opcode) || !incoming(block).empty()) &&
         (!sends(step.opcode) || outgoing(block).size() < program.fifoSlots);
}

void Simulation::execute(uint32_t index) {
  const ThreadBlock &block = program.threadBlocks[index];
  uint32_t number = block.firstStep + position[index]++;
  const Step &step = program.steps[number];
  std::vector<Multiset> &moved = values[number];
  moved.resize(step.count);
  auto add = [&](uint32_t i, const Multiset &other) {
    for (auto [value, times] : other)
      moved[i][value] += times;
  };
  if (receives(step.opcode)) {
    moved = incoming(block).front();
    incoming(block).erase(incoming(block).begin());
  }
  for (uint32_t i = 0; i != step.count; ++i) {
    if (readsSrc(step.opcode))
      add(i, slot(block, step.srcBuffer, step.srcIndex + i));
    if (combinesIntoDst(step.opcode))
      add(i, slot(block, step.dstBuffer, step.dstIndex + i));
  }
  for (uint32_t i = 0; writesDst(step.opcode) && i != step.count; ++i)
    slot(block, step.dstBuffer, step.dstIndex + i) = moved[i];
  if (sends(step.opcode))
    outgoing(block).push_back(moved);
}

void Simulation::run() {
  for (uint32_t now = 0;; ++now) {
    std::vector<uint32_t> able; // blocks that can run when the tick begins: effects of a tick become visible after it
    for (uint32_t block = 0; block != program.threadBlocks.size(); ++block)
      if (canRun(block))
        able.push_back(block);
    if (able.empty())
      return;
    for (uint32_t block : able) {
      tick[program.threadBlocks[block].firstStep + position[block]] = now;
      execute(block);
    }
  }
}

static std::vector<Multiset> expand(const emit::Replay &replay) {
  std::vector<Multiset> values;
  for (uint32_t i = 0; i != replay.inputs; ++i)
    values.push_back({{i, 1}});
  for (auto [a, b] : replay.sums) {
    Multiset sum = values[a];
    for (auto [value, times] : values[b])
      sum[value] += times;
    values.push_back(sum);
  }
  return values;
}

static Program compile(const ChunkDag &dag, uint32_t slots) {
  SourceManager sources;
  Diagnostics diags(sources);
  auto instructions = lower::lower(dag, {}, diags);
  return *schedule::schedule(*instructions, {.fifoSlots = slots}, diags);
}

static void compare(const Program &program) {
  emit::Replay replay = emit::replay(program);
  Simulation simulation(program);
  simulation.run();
  ASSERT_EQ(replay.tick, simulation.tick);
  std::vector<Multiset> values = expand(replay);
  for (uint32_t step = 0; step != program.steps.size(); ++step)
    for (uint32_t i = 0; i != program.steps[step].count; ++i)
      ASSERT_EQ(values[replay.values[replay.valueBegin[step] + i]], simulation.values[step][i]) << "step " << step;
  uint32_t last = 0;
  for (uint32_t tick : replay.tick)
    last = std::max(last, tick + 1);
  EXPECT_EQ(replay.ticks, last);
}

TEST(Replay, isThePlainSimulation) {
  std::mt19937_64 random(42);
  for (uint32_t i = 0; i != 400; ++i) {
    ChunkDag dag = test::randomProgram(random, {.maxRanks = 1 + i % 6, .operations = 5 + i % 60});
    for (uint32_t slots : {1u, 2u, 8u})
      ASSERT_NO_FATAL_FAILURE(compare(compile(dag, slots)));
  }
}

TEST(Pictures, quoteNames) {
  std::mt19937_64 random(1);
  ChunkDag dag = test::randomProgram(random, {.maxRanks = 2, .operations = 8, .directives = false});
  auto info = std::make_shared<ProgramInfo>(*dag.info);
  info->name = "a\"b\\c\nd</script>";
  dag.info = info;
  std::string graph;
  llvm::raw_string_ostream graphStream(graph);
  emit::writeDot(graphStream, dag, dependencies(dag, dag.ops.size() * dag.ops.size()));
  EXPECT_EQ(graphStream.str().substr(0, graph.find('\n')), "digraph \"a\\\"b\\\\c\\nd</script>\" {");

  std::string page;
  llvm::raw_string_ostream pageStream(page);
  SourceManager sources;
  info->sites.assign(info->sites.size(), {}); // as in a program without source text
  emit::writeHtml(pageStream, compile(dag, 8), sources);
  EXPECT_NE(pageStream.str().find("<title>a&quot;b\\c\nd&lt;/script&gt; – gc3</title>"), std::string::npos);
  EXPECT_NE(page.find("\"program\":\"a\\\"b\\\\c\\nd\\u003c/script>\""), std::string::npos);
  EXPECT_NE(page.find("\"files\":[]"), std::string::npos);
}
