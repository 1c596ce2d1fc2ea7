// SPDX-License-Identifier: Apache-2.0
// Checks the meaning of one section at a time. ConnectionCheck.cpp checks all ranks together. All arithmetic on stored
// numbers uses 64 bits.
#include "bundle/Validate.h"

#include "bundle/Times.h"
#include "gc3/Common/CollectiveForm.h"
#include "gc3/Common/Opcode.h"
#include "gc3/Common/StandardCollective.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace gc3::bundle {

using namespace common;

static_assert(sizeof(fbs::Instruction) == 24 && alignof(fbs::Instruction) == 4);
static_assert(sizeof(fbs::TimePoint) == 16);
static_assert(sizeof(fbs::Wait) == 8 && sizeof(fbs::ThreadBlock) == 20 && sizeof(fbs::Run) == 20);

namespace {

constexpr uint32_t maxScratchBuffers = 256 - firstScratchBuffer;

std::string str(uint64_t value) {
  return std::to_string(value);
}

/// Returns the number of slots in one block of a buffer, or 0 if no rank has the buffer.
uint64_t slotsPerBlock(uint32_t chunksPerBlock, const fbs::Program &program) {
  return uint64_t{chunksPerBlock} * program.subdivision();
}

/// The checks of one rank, and the data that they read.
class RankCheck {
public:
  RankCheck(const fbs::Program &checked, const RankView &checkedView) : program(checked), view(checkedView) {}

  std::string run() const {
    if (std::string problem = buffers(); !problem.empty())
      return problem;
    if (std::string problem = waitCounts(); !problem.empty())
      return problem;
    uint64_t next = 0;
    for (uint32_t tb = 0; tb < view.threadBlocks.size(); ++tb) {
      const fbs::ThreadBlock &block = view.threadBlocks[tb];
      if (std::string problem = threadBlock(block, next); !problem.empty())
        return "thread block " + str(tb) + ": " + problem;
      for (uint32_t step = 0; step < block.instruction_count(); ++step)
        if (std::string problem = instruction(block, tb, step); !problem.empty())
          return "thread block " + str(tb) + " step " + str(step) + ": " + problem;
      next += block.instruction_count();
    }
    if (next != view.instructions.size())
      return str(view.instructions.size() - next) + " instructions belong to no thread block";
    return {};
  }

private:
  std::string buffers() const {
    const uint64_t named = program.scratch_names() ? program.scratch_names()->size() : 0;
    if (view.scratchSlots.size() != named)
      return "has " + str(view.scratchSlots.size()) + " scratch buffers, but the program names " + str(named);
    if (std::string problem = wholeBlocks("input", view.inputSlots, program.input_chunks_per_block()); !problem.empty())
      return problem;
    if (std::string problem = wholeBlocks("output", view.outputSlots, program.output_chunks_per_block());
        !problem.empty())
      return problem;
    return alias();
  }

  /// The inner buffer must be a range of whole blocks of the outer buffer. Otherwise overlapping slots of the two
  /// buffers could have different lengths.
  std::string alias() const {
    uint64_t inner = 0, outer = 0;
    switch (view.alias) {
    case fbs::Alias::None: return {};
    case fbs::Alias::InputInOutput: inner = view.inputSlots, outer = view.outputSlots; break;
    case fbs::Alias::OutputInInput: inner = view.outputSlots, outer = view.inputSlots; break;
    default: return "unknown alias kind " + str(static_cast<uint8_t>(view.alias));
    }
    if (inner == 0 || view.aliasOffset + inner > outer)
      return "alias of " + str(inner) + " slots at " + str(view.aliasOffset) + " exceeds a buffer of " + str(outer) +
             " slots";
    if (program.input_chunks_per_block() != program.output_chunks_per_block())
      return "alias between blocks of " + str(program.input_chunks_per_block()) + " and of " +
             str(program.output_chunks_per_block()) + " chunks";
    uint64_t perBlock = slotsPerBlock(program.input_chunks_per_block(), program);
    if (view.aliasOffset % perBlock != 0)
      return "alias at " + str(view.aliasOffset) + " does not begin a block of " + str(perBlock) + " slots";
    return {};
  }

  std::string wholeBlocks(const char *name, uint64_t slots, uint32_t chunksPerBlock) const {
    uint64_t perBlock = slotsPerBlock(chunksPerBlock, program);
    if (slots != 0 && (perBlock == 0 || slots % perBlock != 0))
      return std::string(name) + " of " + str(slots) + " slots is not a whole number of blocks of " + str(perBlock);
    return {};
  }

  /// Limits the sum of all wait counts to the length of the list of waits. Otherwise many instructions could refer to
  /// the whole list, and the checks would take time quadratic in the file size.
  std::string waitCounts() const {
    uint64_t sum = 0;
    for (const fbs::Instruction &inst : view.instructions)
      sum += inst.wait_count();
    return sum > view.waits.size() ? "instructions have " + str(sum) + " waits, the list " + str(view.waits.size())
                                   : std::string();
  }

  std::string threadBlock(const fbs::ThreadBlock &block, uint64_t next) const {
    if (block.first_instruction() != next || block.instruction_count() > view.instructions.size() - next)
      return "instructions " + str(block.first_instruction()) + " + " + str(block.instruction_count()) +
             " do not begin at " + str(next) + ", or exceed the list";
    for (int32_t peer : {block.send_peer(), block.recv_peer()})
      if (peer < -1 ||
          (peer >= 0 && (static_cast<uint32_t>(peer) >= program.ranks() || static_cast<uint32_t>(peer) == view.rank)))
        return "peer " + std::to_string(peer) + " is not another rank";
    return {};
  }

  std::string instruction(const fbs::ThreadBlock &block, uint32_t tb, uint32_t step) const {
    const fbs::Instruction &inst = view.instructions[block.first_instruction() + step];
    if (!isKnownOpcode(inst.opcode()))
      return "unknown opcode " + str(inst.opcode());
    const OpcodeTraits &needs = traits(static_cast<Opcode>(inst.opcode()));
    if (inst.reserved() != 0)
      return "reserved field is not 0";
    if ((!needs.readsSrc && (inst.src_buffer() != 0 || inst.src_index() != 0)) ||
        (!needs.writesDst && (inst.dst_buffer() != 0 || inst.dst_index() != 0)))
      return std::string(needs.name) + " has " + (needs.readsSrc ? "a destination" : "a source");
    if (inst.count() == 0 || ((needs.sends || needs.receives) && inst.count() > program.max_count()))
      return "count " + str(inst.count()) + " is not in 1 .. " + str(program.max_count());
    if ((needs.sends && block.send_peer() < 0) || (needs.receives && block.recv_peer() < 0))
      return std::string(needs.name) + " in a thread block without " +
             (needs.sends && block.send_peer() < 0 ? "send" : "receive") + " peer";
    if (std::string problem = needs.readsSrc ? range("source", inst.src_buffer(), inst.src_index(), inst.count()) : "";
        !problem.empty())
      return problem;
    if (std::string problem =
            needs.writesDst ? range("destination", inst.dst_buffer(), inst.dst_index(), inst.count()) : "";
        !problem.empty())
      return problem;
    bool overlaps = needs.readsSrc && needs.writesDst && inst.src_buffer() == inst.dst_buffer() &&
                    inst.src_index() != inst.dst_index() &&
                    inst.src_index() < uint64_t{inst.dst_index()} + inst.count() &&
                    inst.dst_index() < uint64_t{inst.src_index()} + inst.count();
    if (overlaps) // a tile would read slots that an earlier tile has written
      return "reads and writes overlapping slots";
    if (needs.writesDst && inst.dst_buffer() == inputBuffer && view.alias == fbs::Alias::None && !view.writesInput)
      return "writes the input of a rank that does not declare this";
    return waits(inst, tb, step);
  }

  std::string range(const char *name, uint8_t buffer, uint64_t index, uint64_t count) const {
    uint64_t slots = 0;
    if (buffer == inputBuffer)
      slots = view.inputSlots;
    else if (buffer == outputBuffer)
      slots = view.outputSlots;
    else if (uint32_t scratch = buffer - firstScratchBuffer; scratch < view.scratchSlots.size())
      slots = view.scratchSlots[scratch];
    else
      return std::string(name) + " buffer " + str(buffer) + " does not exist";
    if (index + count > slots)
      return std::string(name) + " slots " + str(index) + " + " + str(count) + " exceed buffer " + str(buffer) +
             " of " + str(slots) + " slots";
    return {};
  }

  std::string waits(const fbs::Instruction &inst, uint32_t tb, uint32_t step) const {
    if (uint64_t{inst.wait_begin()} + inst.wait_count() > view.waits.size())
      return "waits " + str(inst.wait_begin()) + " + " + str(inst.wait_count()) + " exceed the list of " +
             str(view.waits.size());
    for (const fbs::Wait &wait : view.waits.subspan(inst.wait_begin(), inst.wait_count())) {
      if (wait.thread_block() >= view.threadBlocks.size() ||
          wait.step() >= view.threadBlocks[wait.thread_block()].instruction_count())
        return "waits for thread block " + str(wait.thread_block()) + " step " + str(wait.step()) +
               ", which does not exist";
      if (wait.thread_block() == tb && wait.step() >= step)
        return "waits for step " + str(wait.step()) + " of its own thread block";
    }
    return {};
  }

  const fbs::Program &program;
  const RankView &view;
};

} // namespace

static bool isWord(std::string_view name) {
  auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && isLetter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return isLetter(c) || (c >= '0' && c <= '9'); });
}

static bool isName(const flatbuffers::String *text) {
  return text && isWord(text->string_view());
}

bool hasNames(const fbs::Program &program) {
  const auto *scratch = program.scratch_names();
  return isName(program.name()) && isName(program.collective()) &&
         (!scratch || std::all_of(scratch->begin(), scratch->end(), isName));
}

/// Returns the parts of a stored form, or nothing if a compiler would write it in another way.
static std::optional<common::CollectiveForm> wholeForm(std::string_view text) {
  auto form = common::CollectiveForm::parse(text);
  return form && form->isWhole() && form->text() == text ? form : std::nullopt;
}

bool hasForm(const fbs::Program &program) {
  if (!program.form())
    return true;
  const std::string_view collective = program.collective()->string_view();
  const auto form = wholeForm(program.form()->string_view());
  return form && (program.meaning() != 0 || common::findStandard(collective)) && form->name == collective;
}

static std::string validateTimes(std::span<const fbs::TimePoint> times) {
  for (size_t i = 0; i < times.size(); ++i) {
    if (times[i].bytes() == 0)
      return "time " + str(i) + " is for 0 bytes";
    if (i > 0 && times[i].bytes() <= times[i - 1].bytes())
      return "time " + str(i) + " is for " + str(times[i].bytes()) + " bytes, time " + str(i - 1) + " for " +
             str(times[i - 1].bytes());
    if (!std::isfinite(times[i].microseconds()) || times[i].microseconds() <= 0)
      return "time " + str(i) + " is not finite and above 0";
  }
  return {};
}

std::string validateBaseline(const fbs::Baseline &baseline) {
  const auto form = wholeForm(baseline.form()->string_view());
  if (!form || !isWord(form->name))
    return "its collective is malformed";
  if (baseline.ranks() == 0)
    return "0 ranks";
  if (baseline.times()->size() == 0)
    return "no times";
  return validateTimes(pointsOf(baseline.times()));
}

std::string validateProgram(const fbs::Program &program) {
  if (program.ranks() == 0 || program.ranks() > INT32_MAX)
    return str(program.ranks()) + " ranks";
  if (program.protocol() > fbs::Protocol::MAX)
    return "unknown protocol " + str(static_cast<uint8_t>(program.protocol()));
  if (program.min_bytes() >= program.max_bytes())
    return "size range " + str(program.min_bytes()) + " .. " + str(program.max_bytes()) + " is empty";
  if (program.nodes() != 0 && program.ranks() % program.nodes() != 0)
    return str(program.ranks()) + " ranks can't be divided among " + str(program.nodes()) + " nodes";
  if (program.subdivision() == 0 || program.max_count() == 0)
    return "subdivision and largest count must be at least 1";
  uint64_t chunks = std::max(program.input_chunks_per_block(), program.output_chunks_per_block());
  if (chunks * program.subdivision() > UINT32_MAX)
    return str(chunks) + " chunks of " + str(program.subdivision()) + " slots are too many for a block";
  if (program.scratch_names() && program.scratch_names()->size() > maxScratchBuffers)
    return str(program.scratch_names()->size()) + " scratch buffers, at most " + str(maxScratchBuffers) + " fit";
  if (program.min_fifo_slots() == 0 || program.fifo_slots() < program.min_fifo_slots())
    return "proven with " + str(program.fifo_slots()) + " FIFO slots, needs " + str(program.min_fifo_slots());
  return validateTimes(pointsOf(program.times()));
}

std::string validateRank(const fbs::Program &program, const RankView &view) {
  return RankCheck(program, view).run();
}

std::string validateCheck(const fbs::Program &program, const CheckView &view) {
  auto ascends = [](std::span<const uint32_t> offsets, uint64_t end) {
    for (size_t i = 1; i < offsets.size(); ++i)
      if (offsets[i] < offsets[i - 1])
        return false;
    return offsets.empty() ? end == 0 : offsets.front() == 0 && offsets.back() == end;
  };
  if (!ascends(view.valueBegin, view.runs.size()))
    return "the values do not tile the runs";
  if (!ascends(view.rowBegin, view.rows.size()))
    return "the rows do not tile their chunks";
  if (view.rowOfRank.size() != program.ranks())
    return "has " + str(view.rowOfRank.size()) + " ranks";
  for (uint32_t row : view.rowOfRank)
    if (uint64_t{row} + 1 >= view.rowBegin.size())
      return "row " + str(row) + " does not exist";
  for (uint32_t value : view.rows)
    if (value >= std::max<size_t>(view.valueBegin.size(), 1))
      return "value " + str(value) + " - 1 does not exist";
  for (const fbs::Run &run : view.runs) {
    int64_t steps = int64_t{run.length()} - 1;
    int64_t lastRank = run.rank() + steps * run.rank_stride();
    int64_t lastIndex = run.index() + steps * run.index_stride();
    if (run.length() == 0 || run.rank() >= program.ranks() || lastRank < 0 || lastRank >= program.ranks() ||
        lastIndex < 0 || lastIndex > UINT32_MAX)
      return "a run exceeds the ranks or buffers";
  }
  return {};
}

} // namespace gc3::bundle
