// SPDX-License-Identifier: Apache-2.0
// Converts an MSCCL algorithm to an implementation of a collective. Maps the buffers i, o and s to those of GC3-IR; an
// in-place call has one buffer for both input and output.
#include "gc3/IR/InPlace.h"
#include "gc3/Import/MscclXml.h"
#include "gc3/Support/Diagnostics.h"
#include "gc3/Support/Quantity.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::imports;
using namespace gc3::ir;

/// Gives each buffer the largest size that any rank declares. If no rank declares a size, both buffers have
/// `algorithm.chunks` chunks. In place, both buffers have the same size, and the buffer with the larger declared size
/// is the outer one.
Collective gc3::imports::unknownCollective(const MscclAlgorithm &algorithm, bool inPlace) {
  uint32_t input = 0, output = 0;
  for (const MscclAlgorithm::Sizes &sizes : algorithm.sizes) {
    input = std::max(input, sizes.input);
    output = std::max(output, sizes.output);
  }
  bool everywhere = inPlace || input + output == 0;
  Collective collective;
  collective.name = algorithm.info.collective.name;
  collective.ranks = algorithm.info.collective.ranks;
  RankAlias alias{inPlace ? input > output ? RankAlias::OutputInInput : RankAlias::InputInOutput : RankAlias::None, 0};
  collective.aliases.assign(collective.ranks, alias);
  for (const MscclAlgorithm::Sizes &sizes : algorithm.sizes) {
    collective.hasInput.push_back(everywhere || sizes.input != 0);
    collective.hasOutput.push_back(everywhere || sizes.output != 0);
  }
  if (everywhere)
    input = output = std::max({input, output, algorithm.chunks});
  collective.input = {input != 0, input};
  collective.output = {output != 0, output};
  std::vector<uint32_t> anything(output, Postcondition::Anything);
  setRows(collective, [&](uint32_t) { return llvm::ArrayRef(anything); });
  return collective;
}

namespace {

class Builder {
public:
  Builder(const MscclAlgorithm &algorithm, Collective collective, Diagnostics &diags)
      : program(algorithm.program), algorithm(algorithm), info(std::make_shared<ProgramInfo>(algorithm.info)),
        diags(diags) {
    info->collective = std::move(collective);
  }
  bool run(uint32_t fifoSlots);
  Program program;

private:
  bool checkShape();
  bool checkPlacement();
  void makeBuffers();
  uint32_t sizeOf(uint32_t rank, BufferId buffer) const;
  void place(uint32_t rank, const Step &step, const char *what, BufferId &buffer, uint32_t &index);
  void checkInput(uint32_t rank, const Step &step);
  void checkMerged(uint32_t step);

  const MscclAlgorithm &algorithm;
  std::shared_ptr<ProgramInfo> info;
  Diagnostics &diags;
};

} // namespace

/// Checks the shape, and sets the number of slots per chunk. The file can cut buffers into more chunks than the
/// collective does. In this case, the file's chunks are slots.
bool Builder::checkShape() {
  const Collective &collective = info->collective;
  uint32_t ranks = algorithm.info.collective.ranks;
  if (collective.ranks != ranks) {
    diags.error(DiagId::BadShape, algorithm.collectiveRange,
                "'" + collective.name + "' has " + std::to_string(collective.ranks) + " ranks, the file " +
                    std::to_string(ranks));
    return false;
  }
  uint32_t chunks = std::max(collective.input.total(), collective.output.total());
  if (chunks != 0 && algorithm.chunks % chunks != 0) {
    diags.error(DiagId::BadShape, algorithm.chunksRange,
                "the " + std::to_string(chunks) + " chunks of '" + collective.name +
                    "' can't be cut into 'nchunksperloop', which is " + std::to_string(algorithm.chunks));
    return false;
  }
  program.subdivision = chunks == 0 ? 1 : algorithm.chunks / chunks;
  return true;
}

/// Checks the placement of buffers that the runtimes derive from the collective's name in the file.
bool Builder::checkPlacement() {
  const Collective &collective = info->collective;
  const std::string &called = algorithm.info.collective.name;
  std::optional<Misplaced> misplaced = firstMisplaced(collective, called);
  if (!misplaced)
    return true;
  diags.error(DiagId::BadAlias, algorithm.collectiveRange,
              "in place, MSCCL runtimes begin the " + std::string(misplaced->inputInside ? "input" : "output") +
                  " of rank " + std::to_string(misplaced->rank) + " at chunk " + std::to_string(misplaced->begin) +
                  " of its " + (misplaced->inputInside ? "output" : "input") + " when a file is for '" + called +
                  "', and '" + collective.name + "' has it " + describePlacement(collective, *misplaced));
  return false;
}

/// Returns the number of slots of a buffer. `buffer` is the file's number: 0, 1 and 2 for i, o and s.
uint32_t Builder::sizeOf(uint32_t rank, BufferId buffer) const {
  return buffer == FirstScratchBuffer ? algorithm.sizes[rank].scratch
                                      : info->collective.size(rank, buffer) * program.subdivision;
}

void Builder::makeBuffers() {
  bool hasScratch = std::any_of(algorithm.sizes.begin(), algorithm.sizes.end(),
                                [](const MscclAlgorithm::Sizes &sizes) { return sizes.scratch != 0; });
  if (hasScratch)
    info->scratchNames.emplace_back("scratch");
  for (uint32_t rank = 0; rank != info->collective.ranks; ++rank) {
    RankAlias::Kind kind = info->collective.aliases[rank].kind;
    program.bufferSizes.push_back(kind == RankAlias::InputInOutput ? 0 : sizeOf(rank, InputBuffer));
    program.bufferSizes.push_back(kind == RankAlias::OutputInInput ? 0 : sizeOf(rank, OutputBuffer));
    if (hasScratch)
      program.bufferSizes.push_back(algorithm.sizes[rank].scratch);
  }
}

/// Checks that the step's slots exist, and converts `buffer` and `index` to those of GC3-IR.
void Builder::place(uint32_t rank, const Step &step, const char *what, BufferId &buffer, uint32_t &index) {
  uint32_t size = sizeOf(rank, buffer);
  if (uint64_t(index) + step.count > size) {
    diags.error(DiagId::ChunkOutOfRange, info->sites[step.site],
                std::string(what) + " " + "ios"[buffer] + "[" + std::to_string(index) + ".." +
                    std::to_string(uint64_t(index) + step.count) + "], but this buffer has " + quantity(size, "chunk") +
                    " on gpu " + std::to_string(rank));
    return;
  }
  Location location = canonical(info->collective, {rank, buffer, index}, program.subdivision);
  buffer = location.buffer;
  index = location.index;
}

/// Rejects writes to the input of an out-of-place call. NCCL does not change the caller's input, and the runtimes do
/// not copy the input.
void Builder::checkInput(uint32_t rank, const Step &step) {
  if (writesDst(step.opcode) && step.dstBuffer == InputBuffer && info->collective.aliases[rank].kind == RankAlias::None)
    diags.error(DiagId::BadAlias, info->sites[step.site],
                "writes to the input, which a call out of place must not change; use 's' or 'o', or "
                "declare inplace=\"1\" outofplace=\"0\"");
}

/// Rejects a merged reduction that reads what an earlier reduction of the same run wrote. Other merged reductions have
/// the same result as if they ran one after the other.
void Builder::checkMerged(uint32_t index) {
  const Step &step = program.steps[index];
  if (algorithm.merged[index] && step.readsItsTarget())
    diags.error(DiagId::MergedReductions, info->sites[step.site],
                "the runtimes merge this reduction with the ones before it, but this one reads their result; end the "
                "run with hasdep=\"1\" on the step before");
}

bool Builder::run(uint32_t fifoSlots) {
  if (!checkShape() || !checkPlacement())
    return false;
  makeBuffers();
  unsigned before = diags.errorCount();
  for (const ThreadBlock &block : program.threadBlocks)
    for (uint32_t i = block.firstStep; i != block.firstStep + block.stepCount; ++i) {
      Step &step = program.steps[i];
      if (readsSrc(step.opcode))
        place(block.rank, step, "reads", step.srcBuffer, step.srcIndex);
      if (writesDst(step.opcode))
        place(block.rank, step, "writes", step.dstBuffer, step.dstIndex);
      checkInput(block.rank, step);
      checkMerged(i);
    }
  program.fifoSlots = fifoSlots;
  program.info = info;
  return diags.errorCount() == before;
}

std::optional<Program> gc3::imports::programOf(const MscclAlgorithm &algorithm, Collective collective,
                                               uint32_t fifoSlots, Diagnostics &diags) {
  Builder builder(algorithm, std::move(collective), diags);
  if (!builder.run(fifoSlots))
    return std::nullopt;
  return std::move(builder.program);
}
