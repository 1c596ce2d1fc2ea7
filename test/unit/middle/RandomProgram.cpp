// SPDX-License-Identifier: Apache-2.0
#include "RandomProgram.h"
#include <algorithm>
#include <deque>
#include <map>
#include <optional>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::test;

namespace {

using Multiset = std::map<std::pair<uint32_t, uint32_t>, uint64_t>; // maps (rank, index) to the number of occurrences

Multiset sum(const Multiset &a, const Multiset &b) {
  Multiset result = a;
  for (const auto &[key, times] : b)
    result[key] += times;
  return result;
}

class Generator {
public:
  Generator(std::mt19937_64 &random, const RandomOptions &options) : random(random), options(options) {}
  ChunkDag run();

private:
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(random() % bound); }
  void makeCollective();
  void makeDirectives();
  uint32_t addManualBlocks();
  bool addOperation();
  void makePostcondition();
  std::optional<Multiset> &at(uint32_t rank, uint32_t buffer, uint32_t index) {
    return state[(rank * 3 + buffer) * size + index];
  }
  uint32_t addValue(const Multiset &value);

  std::mt19937_64 &random;
  const RandomOptions &options;
  std::shared_ptr<ProgramInfo> info = std::make_shared<ProgramInfo>();
  ChunkDag dag;
  uint32_t ranks = 0;
  uint32_t size = 0;
  bool inPlace = false;
  std::vector<std::optional<Multiset>> state;
  std::map<Multiset, uint32_t> values; // number of each value in the postcondition, plus 1
};

} // namespace

void Generator::makeCollective() {
  ranks = 1 + below(options.maxRanks);
  size = 1 + below(6);
  inPlace = below(3) == 0;
  Collective &collective = info->collective;
  collective.name = "random";
  collective.ranks = ranks;
  collective.input = collective.output = {1, size};
  collective.hasInput.assign(ranks, 1);
  collective.hasOutput.assign(ranks, 1);
  collective.aliases.assign(ranks, {inPlace ? RankAlias::InputInOutput : RankAlias::None, 0});
  info->name = "random";
  info->scratchNames = {"scratch"};
  info->sites = {{}};
  state.resize(size_t(ranks) * 3 * size);
  for (uint32_t rank = 0; rank != ranks; ++rank) {
    dag.bufferSizes.insert(dag.bufferSizes.end(), {inPlace ? 0 : size, size, size});
    BufferId buffer = inPlace ? OutputBuffer : InputBuffer;
    dag.ops.push_back({ChunkOpKind::Start, 0, buffer, 0, 0, rank, 0, size, 0, 0});
    for (uint32_t index = 0; index != size; ++index)
      at(rank, buffer, index) = Multiset{{{rank, index}, 1}};
  }
}

void Generator::makeDirectives() {
  info->directives = {{}};
  for (uint32_t i = 0; options.directives && !options.manualBlocks && i != 4; ++i) {
    Directive directive;
    if (options.channels && below(2))
      directive.channel = static_cast<int32_t>(below(3));
    if (below(3) == 0)
      directive.parallel = 1 + below(4);
    info->directives.push_back(directive);
  }
}

/// Adds directives for one operation. Few numbers make conflicts likely.
uint32_t Generator::addManualBlocks() {
  Directive directive;
  if (options.channels && below(4) == 0)
    directive.channel = static_cast<int32_t>(below(2));
  if (below(5) < 2)
    directive.sendThreadBlock = static_cast<int32_t>(below(3));
  if (below(5) < 2)
    directive.recvThreadBlock = static_cast<int32_t>(below(3));
  if (options.instances && below(3) == 0)
    directive.parallel = 1 + below(3);
  info->directives.push_back(directive);
  return static_cast<uint32_t>(info->directives.size() - 1);
}

bool Generator::addOperation() {
  uint32_t count = 1 + below(std::min(size, 3u));
  ChunkOp op{};
  op.count = count;
  op.srcRank = below(ranks);
  op.dstRank = below(ranks);
  op.srcBuffer = static_cast<BufferId>(inPlace ? 1 + below(2) : below(3));
  op.dstBuffer = static_cast<BufferId>(inPlace ? 1 + below(2) : below(3));
  op.srcIndex = below(size - count + 1);
  op.dstIndex = below(size - count + 1);
  op.kind = below(2) ? ChunkOpKind::Copy : ChunkOpKind::Reduce;
  if (below(2) && dag.ops.back().kind != ChunkOpKind::Start) { // continues from the last result, which makes fused
                                                               // chains
    op.srcRank = dag.ops.back().dstRank;
    op.srcBuffer = dag.ops.back().dstBuffer;
    op.srcIndex = dag.ops.back().dstIndex;
    op.count = count = below(4) ? dag.ops.back().count : 1;
    op.dstIndex = below(size - count + 1);
  }
  bool samePlace = op.srcRank == op.dstRank && op.srcBuffer == op.dstBuffer;
  if (samePlace && op.srcIndex < op.dstIndex + count && op.dstIndex < op.srcIndex + count)
    return false;
  for (uint32_t i = 0; i != count; ++i)
    if (!at(op.srcRank, op.srcBuffer, op.srcIndex + i) ||
        (op.kind == ChunkOpKind::Reduce && !at(op.dstRank, op.dstBuffer, op.dstIndex + i)))
      return false;
  for (uint32_t i = 0; i != count; ++i) {
    const Multiset &src = *at(op.srcRank, op.srcBuffer, op.srcIndex + i);
    std::optional<Multiset> &dst = at(op.dstRank, op.dstBuffer, op.dstIndex + i);
    dst = op.kind == ChunkOpKind::Copy ? src : sum(*dst, src);
  }
  op.directive = options.manualBlocks ? addManualBlocks() : below(static_cast<uint32_t>(info->directives.size()));
  op.site = static_cast<uint32_t>(info->sites.size());
  info->sites.push_back({static_cast<uint32_t>(dag.ops.size()) + 1, static_cast<uint32_t>(dag.ops.size()) + 2});
  dag.ops.push_back(op);
  return true;
}

uint32_t Generator::addValue(const Multiset &value) {
  Postcondition &post = info->collective.post;
  auto [known, isNew] = values.try_emplace(value, post.valueCount() + 1);
  if (!isNew)
    return known->second;
  for (const auto &[key, times] : value)
    for (uint64_t i = 0; i != times; ++i)
      post.runs.push_back({key.first, key.second, 0, 0, 1});
  post.valueBegin.push_back(static_cast<uint32_t>(post.runs.size()));
  return post.valueCount();
}

void Generator::makePostcondition() {
  std::vector<uint32_t> entries;
  for (uint32_t rank = 0; rank != ranks; ++rank)
    for (uint32_t index = 0; index != size; ++index) {
      const auto &value = at(rank, OutputBuffer, index);
      uint64_t weight = 0;
      if (value)
        for (const auto &[key, times] : *value)
          weight += times;
      bool wanted = value && weight < 1000 && below(4) != 0;
      entries.push_back(wanted ? addValue(*value) : Postcondition::Anything);
    }
  setRows(info->collective, [&](uint32_t rank) { return llvm::ArrayRef(entries).slice(size_t(rank) * size, size); });
}

ChunkDag Generator::run() {
  makeCollective();
  makeDirectives();
  for (uint32_t made = 0, tries = 0; made != options.operations && tries != 40 * options.operations; ++tries)
    made += addOperation();
  makePostcondition();
  dag.info = info;
  return std::move(dag);
}

ChunkDag gc3::test::randomProgram(std::mt19937_64 &random, const RandomOptions &options) {
  return Generator(random, options).run();
}

namespace {

using Slot = std::optional<std::map<std::pair<uint32_t, uint32_t>, uint64_t>>;

class Oracle {
public:
  Oracle(const Program &program, uint32_t fifoSlots, std::mt19937_64 &random)
      : program(program), fifoSlots(fifoSlots), random(random), progress(program.threadBlocks.size()) {}
  std::string run();

private:
  bool step(uint32_t block);
  Slot *slice(uint32_t rank, BufferId buffer, uint32_t index) { return &memory[{rank, buffer, index}]; }
  void fillInputs();
  std::string compare();

  const Program &program;
  uint32_t fifoSlots;
  std::mt19937_64 &random;
  std::vector<uint32_t> progress;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Slot> memory;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::deque<std::vector<Slot>>> fifos;
};

} // namespace

void Oracle::fillInputs() {
  const Collective &collective = program.info->collective;
  for (uint32_t rank = 0; rank != collective.ranks; ++rank)
    for (uint32_t index = 0; index != collective.size(rank, InputBuffer) * program.subdivision; ++index) {
      Location location = canonical(collective, {rank, InputBuffer, index}, program.subdivision);
      *slice(rank, location.buffer, location.index) = Multiset{{{rank, index}, 1}};
    }
}

bool Oracle::step(uint32_t index) {
  const ThreadBlock &block = program.threadBlocks[index];
  if (progress[index] == block.stepCount)
    return false;
  const Step &step = program.steps[block.firstStep + progress[index]];
  for (uint32_t i = step.waitBegin; i != step.waitBegin + step.waitCount; ++i)
    if (progress[program.rankBegin[block.rank] + program.waits[i].threadBlock] <= program.waits[i].step)
      return false;
  auto in = std::tuple(static_cast<uint32_t>(block.recvPeer), block.rank, block.channel);
  auto out = std::tuple(block.rank, static_cast<uint32_t>(block.sendPeer), block.channel);
  if (receives(step.opcode) && fifos[in].empty())
    return false;
  if (sends(step.opcode) && fifos[out].size() == fifoSlots)
    return false;
  std::vector<Slot> values(step.count);
  if (receives(step.opcode)) {
    values = fifos[in].front();
    fifos[in].pop_front();
  }
  for (uint32_t i = 0; i != step.count; ++i) {
    if (readsSrc(step.opcode)) {
      Slot src = *slice(block.rank, step.srcBuffer, step.srcIndex + i);
      values[i] = receives(step.opcode) && src && values[i] ? Slot(sum(*values[i], *src)) : src;
    }
    if (combinesIntoDst(step.opcode)) {
      Slot dst = *slice(block.rank, step.dstBuffer, step.dstIndex + i);
      values[i] = dst && values[i] ? Slot(sum(*dst, *values[i])) : Slot();
    }
  }
  for (uint32_t i = 0; writesDst(step.opcode) && i != step.count; ++i)
    *slice(block.rank, step.dstBuffer, step.dstIndex + i) = values[i];
  if (sends(step.opcode))
    fifos[out].push_back(values);
  ++progress[index];
  return true;
}

std::string Oracle::compare() {
  const Collective &collective = program.info->collective;
  for (uint32_t rank = 0; rank != collective.ranks; ++rank)
    for (uint32_t index = 0; index != collective.size(rank, OutputBuffer); ++index) {
      uint32_t wanted = collective.post.wanted(rank, index);
      if (wanted == Postcondition::Anything)
        continue;
      for (uint32_t part = 0; part != program.subdivision; ++part) {
        Multiset value;
        for (uint32_t i = collective.post.valueBegin[wanted - 1]; i != collective.post.valueBegin[wanted]; ++i)
          ++value[{collective.post.runs[i].rank, collective.post.runs[i].index * program.subdivision + part}];
        Location location = canonical(collective, {rank, OutputBuffer, index});
        if (*slice(rank, location.buffer, location.index * program.subdivision + part) != Slot(value))
          return "wrong output(" + std::to_string(rank) + ", " + std::to_string(index) + ")";
      }
    }
  return {};
}

std::string Oracle::run() {
  fillInputs();
  std::vector<uint32_t> blocks(program.threadBlocks.size());
  for (uint32_t i = 0; i != blocks.size(); ++i)
    blocks[i] = i;
  bool moved = true;
  while (moved) { // a block runs up to 4 steps at once, so that others starve or interleave
    moved = false;
    std::shuffle(blocks.begin(), blocks.end(), random);
    for (uint32_t block : blocks)
      for (uint64_t burst = 1 + random() % 4; burst != 0 && step(block); --burst)
        moved = true;
  }
  for (uint32_t block : blocks)
    if (progress[block] != program.threadBlocks[block].stepCount)
      return "stuck";
  return compare();
}

std::string gc3::test::runInRandomOrder(const Program &program, uint32_t fifoSlots, std::mt19937_64 &random) {
  return Oracle(program, fifoSlots, random).run();
}
