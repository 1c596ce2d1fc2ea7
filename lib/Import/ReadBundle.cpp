// SPDX-License-Identifier: Apache-2.0
// Converts a bundle to IR. The loader has checked each section. This file checks what the readers of texts guarantee in
// addition: names are words, buffers fit the budget and their shapes, and postconditions refer to existing chunks.
#include "BundleReader.h"
#include "bundle/Times.h"
#include "gc3/Common/CollectiveForm.h"
#include "gc3/Common/StandardCollective.h"
#include "gc3/Support/Quantity.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::imports;
using namespace gc3::ir;
namespace fbs = gc3::bundle::fbs;

static bool isWord(llvm::StringRef name) {
  return !name.empty() && !llvm::isDigit(name[0]) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

std::string BundleReader::readHeader() {
  info->name = stored.name()->str();
  info->collective.name = stored.collective()->str();
  if (stored.form() && !common::findStandard(info->collective.name))
    info->collective.arguments = common::CollectiveForm::parse(stored.form()->string_view())->argumentsText();
  info->collective.ranks = stored.ranks();
  info->collective.input.chunks = stored.input_chunks_per_block();
  info->collective.output.chunks = stored.output_chunks_per_block();
  info->protocol = static_cast<Protocol>(stored.protocol());
  info->minBytes = stored.min_bytes();
  info->maxBytes = stored.max_bytes();
  info->isPinned = stored.pinned();
  info->nodes = stored.nodes();
  info->directives.resize(1);
  info->sites.resize(1);
  program.subdivision = stored.subdivision();
  program.fifoSlots = stored.fifo_slots();
  if (stored.scratch_names())
    for (const auto *name : *stored.scratch_names())
      info->scratchNames.push_back(name->str());
  bool words = isWord(info->name) && isWord(info->collective.name) && llvm::all_of(info->scratchNames, isWord);
  if (!words)
    return "a name is not one of letters, digits and '_'";
  if (info->bufferCount() > MaxBuffers || stored.ranks() > MaxRanks || stored.fifo_slots() > MaxFifoSlots)
    return "more than " + std::to_string(MaxBuffers) + " buffers, " + std::to_string(MaxRanks) + " ranks or " +
           std::to_string(MaxFifoSlots) + " slots per connection";
  llvm::StringSet<> names;
  for (uint32_t buffer = 0; buffer != info->bufferCount(); ++buffer)
    if (!names.insert(info->bufferName(static_cast<BufferId>(buffer))).second)
      return "two buffers have one name";
  return {};
}

void BundleReader::addAlias(const bundle::RankView &view) {
  RankAlias alias;
  alias.kind = static_cast<RankAlias::Kind>(view.alias);
  alias.offset = view.aliasOffset / stored.subdivision();
  info->collective.aliases.push_back(alias);
}

/// Records whether the next rank has the buffer. Returns false if ranks with the buffer differ in their number of
/// blocks.
bool BundleReader::addBuffer(BufferId buffer, uint32_t size) {
  Collective &collective = info->collective;
  Shape &shape = buffer == InputBuffer ? collective.input : collective.output;
  (buffer == InputBuffer ? collective.hasInput : collective.hasOutput).push_back(size != 0);
  if (size == 0)
    return true;
  uint32_t blocks = size / (shape.chunks * stored.subdivision());
  bool first = shape.blocks == 0;
  shape.blocks = first ? blocks : shape.blocks;
  return blocks == shape.blocks;
}

void BundleReader::addSteps(const bundle::RankView &view) {
  auto firstStep = static_cast<uint32_t>(program.steps.size());
  auto firstWait = static_cast<uint32_t>(program.waits.size());
  for (const fbs::ThreadBlock &block : view.threadBlocks)
    program.threadBlocks.push_back({view.rank, block.channel(), block.send_peer(), block.recv_peer(),
                                    firstStep + block.first_instruction(), block.instruction_count()});
  for (const fbs::Instruction &instruction : view.instructions) {
    Step step{};
    step.opcode = static_cast<Opcode>(instruction.opcode());
    step.srcBuffer = instruction.src_buffer();
    step.dstBuffer = instruction.dst_buffer();
    step.srcIndex = instruction.src_index();
    step.dstIndex = instruction.dst_index();
    step.count = instruction.count();
    step.waitBegin = firstWait + instruction.wait_begin();
    step.waitCount = instruction.wait_count();
    program.steps.push_back(step);
  }
  for (const fbs::Wait &wait : view.waits)
    program.waits.push_back({wait.thread_block(), wait.step()});
  program.rankBegin.push_back(static_cast<uint32_t>(program.threadBlocks.size()));
}

BundleProblem BundleReader::addRank(const bundle::RankView &view) {
  if (!addBuffer(InputBuffer, view.inputSlots) || !addBuffer(OutputBuffer, view.outputSlots))
    return invalid("rank " + std::to_string(view.rank) + " has another number of blocks than those before it");
  addAlias(view);
  size_t firstSize = program.bufferSizes.size();
  program.bufferSizes.push_back(view.alias == fbs::Alias::InputInOutput ? 0 : view.inputSlots);
  program.bufferSizes.push_back(view.alias == fbs::Alias::OutputInInput ? 0 : view.outputSlots);
  program.bufferSizes.insert(program.bufferSizes.end(), view.scratchSlots.begin(), view.scratchSlots.end());
  for (size_t i = firstSize; i != program.bufferSizes.size(); ++i)
    slots += program.bufferSizes[i];
  if (slots > options.maxSlots)
    return exceeds(DiagId::SlotBudget,
                   "more than " + quantity(options.maxSlots, "slot") + " in all; --max-slots allows more");
  uint64_t steps = program.steps.size() + uint64_t(view.instructions.size());
  if (std::max(steps, program.waits.size() + uint64_t(view.waits.size())) > UINT32_MAX)
    return invalid("more than 2^32 steps or waits");
  addSteps(view);
  return {};
}

/// Returns true if all runs refer to existing input chunks.
bool BundleReader::checkRuns(const bundle::CheckView &view) const {
  for (const fbs::Run &run : view.runs) {
    int64_t last = run.index() + (int64_t{run.length()} - 1) * run.index_stride();
    if (std::max<int64_t>(run.index(), last) >= info->collective.input.total())
      return false;
  }
  return true;
}

BundleProblem BundleReader::checkBudgets(const bundle::CheckView &view) const {
  uint64_t contributions = 0;
  for (const fbs::Run &run : view.runs)
    contributions += run.length();
  if (contributions > options.maxContributions)
    return exceeds(DiagId::StepBudget, "its outputs hold more than " +
                                           quantity(options.maxContributions, "input chunk") +
                                           " in all; --max-steps allows more");
  // A value of the postcondition counts as one chunk, so it takes `subdivision` slots of the budget.
  uint64_t values = std::max<uint64_t>(view.valueBegin.size(), 1) - 1;
  if (values * stored.subdivision() > options.maxSlots)
    return exceeds(DiagId::SlotBudget,
                   "its outputs hold more than " + quantity(options.maxSlots, "slot") + "; --max-slots allows more");
  return {};
}

/// Adds the postcondition. Returns false if a row differs in length from the output of its ranks, or if a value is
/// empty.
bool BundleReader::addPostcondition(const bundle::CheckView &view) {
  if (view.valueBegin.empty() || !checkRuns(view))
    return false;
  Postcondition &post = info->collective.post;
  post.valueBegin.assign(view.valueBegin.begin(), view.valueBegin.end());
  for (const fbs::Run &run : view.runs)
    post.runs.push_back({run.rank(), run.index(), run.rank_stride(), run.index_stride(), run.length()});
  post.rowOfRank.assign(view.rowOfRank.begin(), view.rowOfRank.end());
  post.rowBegin.assign(view.rowBegin.begin(), view.rowBegin.end());
  post.rows.assign(view.rows.begin(), view.rows.end());
  bool good = std::adjacent_find(post.valueBegin.begin(), post.valueBegin.end()) == post.valueBegin.end();
  for (uint32_t rank = 0; rank != stored.ranks(); ++rank) {
    uint32_t row = post.rowOfRank[rank];
    good &= post.rowBegin[row + 1] - post.rowBegin[row] == info->collective.size(rank, OutputBuffer);
  }
  return good;
}

/// Converts an error of the loader.
static BundleProblem problemOf(const bundle::BundleStatus &status) {
  return {DiagId::CannotRead, status.message};
}

BundleProblem BundleReader::read() {
  if (std::string problem = readHeader(); !problem.empty())
    return invalid(problem);
  for (uint32_t rank = 0; rank != stored.ranks(); ++rank) {
    const bundle::BundleResult<bundle::RankView> view = file.rank(index, rank);
    if (!view.ok())
      return problemOf(view.outcome());
    if (BundleProblem problem = addRank(*view); !problem.empty())
      return problem;
  }
  const bundle::BundleResult<bundle::CheckView> view = file.check(index);
  if (!view.ok())
    return problemOf(view.outcome());
  if (BundleProblem problem = checkBudgets(*view); !problem.empty())
    return problem;
  if (!addPostcondition(*view))
    return invalid("the postcondition does not fit the buffers");
  program.info = info;
  return {};
}

static std::vector<TimePoint> timesOf(const fbs::Program &stored) {
  std::vector<TimePoint> times;
  for (const fbs::TimePoint &point : bundle::pointsOf(stored.times()))
    times.push_back({point.bytes(), point.microseconds()});
  return times;
}

BundleProblem gc3::imports::readBundle(llvm::StringRef bytes, const ReadOptions &options,
                                       std::vector<BundledProgram> &programs) {
  const auto opened = bundle::BundleFile::openMemory(bytes.data(), bytes.size());
  if (!opened.ok())
    return problemOf(opened.outcome());
  const bundle::BundleFile &file = **opened;
  for (uint32_t i = 0; i != file.programCount(); ++i) {
    BundleReader reader(file, i, options);
    if (BundleProblem problem = reader.read(); !problem.empty())
      return problem;
    const fbs::Program &stored = file.program(i);
    programs.push_back({std::move(reader.program), stored.verified(), stored.min_fifo_slots(), stored.whole_slots(),
                        stored.in_place(), stored.contributions(), stored.max_count(),
                        stored.form() ? stored.form()->str() : std::string(), stored.meaning(), timesOf(stored)});
  }
  return {};
}
