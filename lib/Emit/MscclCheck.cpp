// SPDX-License-Identifier: Apache-2.0
// Checks that an MSCCL file can express the program, and that the program does not exceed the limits of the runtimes.
// Reports each kind of error once, at the first place that has it. Linear in the program.
#include "Msccl.h"
#include "gc3/Common/StandardCollective.h"
#include "gc3/IR/InPlace.h"
#include "gc3/Support/Diagnostics.h"
#include <algorithm>
#include <array>

using namespace gc3;
using namespace gc3::emit;
using namespace gc3::ir;

namespace {

/// Sizes of a runtime's tables.
struct Limits {
  const char *runtime;
  uint32_t threadBlocks; ///< per rank
  uint32_t steps;        ///< per thread block, including `nop`s
};
constexpr Limits mscclLimits{"MSCCL", 216, 256};
constexpr Limits rcclLimits{"RCCL", 64, 64};
constexpr uint32_t mostSlotsPerStep = 71;
constexpr uint32_t mostChannels = 32;
constexpr uint32_t mostPeers = 32;       ///< per rank, channel and direction
constexpr uint32_t mostWaitedFor = 128;  ///< limit for the numbers of thread blocks that others wait for; the runtimes
                                         ///< store these numbers in 8 bits
constexpr uint32_t mostSlots = 1u << 15; ///< limit per rank and buffer; the runtimes store offsets in 16 bits
constexpr size_t longestName = 255;

class Checker {
public:
  Checker(const Program &program, const MscclLayout &layout, MscclDialect dialect, Diagnostics &diags)
      : program(program), info(*program.info), layout(layout), dialect(dialect),
        limits(dialect == MscclDialect::Rccl ? rcclLimits : mscclLimits), diags(diags) {}
  bool run();

private:
  void checkCollective();
  void checkSizes();
  void checkInputs();
  void checkPlacement();
  void checkName();
  void checkBuffers();
  void checkThreadBlocks();
  void checkChannels();
  bool checkPeers(uint32_t rank);
  void checkStepCounts();
  void checkSlotCounts();
  void checkWaits();

  void reportInexpressible(SourceRange range, const std::string &what) {
    diags.error(DiagId::Inexpressible, range, "program '" + info.name + "' " + what);
  }
  void reportLimit(SourceRange range, const std::string &what) {
    diags.error(DiagId::RuntimeLimit, range, "program '" + info.name + "' " + what);
  }
  SourceRange placeOf(const ThreadBlock &block, uint32_t step) const {
    return step < block.stepCount ? info.sites[program.steps[block.firstStep + step].site] : info.nameRange;
  }
  std::string blockName(uint32_t index) const {
    uint32_t rank = program.threadBlocks[index].rank;
    return "thread block " + std::to_string(index - program.rankBegin[rank]) + " of rank " + std::to_string(rank);
  }

  const Program &program;
  const ProgramInfo &info;
  const MscclLayout &layout;
  MscclDialect dialect;
  Limits limits;
  Diagnostics &diags;
};

} // namespace

static bool isRooted(const std::string &name) {
  const common::StandardCollective *standard = common::findStandard(name);
  return standard && standard->hasRoot();
}

const char *gc3::emit::mscclCollective(const std::string &name, MscclDialect dialect) {
  const common::StandardCollective *standard = common::findStandard(name);
  if (!standard)
    return dialect == MscclDialect::Rccl ? nullptr : "custom";
  if (standard->hasRoot())
    return nullptr;
  return dialect == MscclDialect::Rccl && name == "reduce_scatter" ? "reducescatter" : standard->name;
}

void Checker::checkCollective() {
  const std::string &name = info.collective.name;
  if (mscclCollective(name, dialect))
    return;
  if (isRooted(name))
    reportInexpressible(info.nameRange,
                        "implements '" + name +
                            "', and an MSCCL file has no place for its root: a runtime would run it for every "
                            "root; write a bundle instead");
  else
    reportInexpressible(info.nameRange,
                        "implements '" + name +
                            "', and RCCL runs no custom collectives; use --msccl-dialect=msccl, or write a bundle");
}

void Checker::checkSizes() {
  if (info.maxBytes <= 1)
    reportInexpressible(info.sizesRange,
                        "is for calls of 0 bytes, which MSCCL runtimes leave to NCCL; raise the end of its sizes");
}

/// Checks the placement of in-place buffers. An MSCCL runtime gets only the addresses of the two buffers, and derives
/// the position of one buffer in the other from the collective.
void Checker::checkPlacement() {
  const char *collective = mscclCollective(info.collective.name, dialect);
  if (!collective)
    return;
  std::optional<Misplaced> misplaced =
      firstMisplaced(info.collective, llvm::StringRef(collective) == "custom" ? collective : info.collective.name);
  if (!misplaced)
    return;
  reportInexpressible(info.nameRange,
                      std::string("has the ") + (misplaced->inputInside ? "input" : "output") + " of rank " +
                          std::to_string(misplaced->rank) + " " + describePlacement(info.collective, *misplaced) +
                          ", but in place MSCCL runtimes expect it from chunk " + std::to_string(misplaced->begin) +
                          " of its " + (misplaced->inputInside ? "output" : "input") +
                          "; make the collective out of place, or write a bundle");
}

/// Reports writes to the input of a rank that is not in place. The gc3 runtime runs such a program on a copy of the
/// input; an MSCCL runtime would overwrite the caller's buffer.
void Checker::checkInputs() {
  for (const ThreadBlock &block : program.threadBlocks)
    for (uint32_t i = 0; i != block.stepCount; ++i) {
      const Step &step = program.steps[block.firstStep + i];
      bool overwritesInput = writesDst(step.opcode) && step.dstBuffer == InputBuffer &&
                             info.collective.aliases[block.rank].kind == RankAlias::None;
      if (!overwritesInput)
        continue;
      reportInexpressible(placeOf(block, i),
                          "writes to the input of rank " + std::to_string(block.rank) +
                              ", which an MSCCL runtime would overwrite in the caller's buffer; write to scratch, or "
                              "make the collective in place");
      return;
    }
}

void Checker::checkName() {
  if (info.name.size() > longestName)
    reportLimit(info.nameRange, "has a name of " + std::to_string(info.name.size()) +
                                    " characters, MSCCL runtimes read " + std::to_string(longestName) +
                                    "; choose a shorter one");
}

void Checker::checkBuffers() {
  for (uint32_t rank = 0; rank != program.ranks(); ++rank) {
    uint64_t largest = std::max<uint64_t>(
        {program.bufferSize(rank, InputBuffer), program.bufferSize(rank, OutputBuffer), layout.scratchSize(rank)});
    if (largest <= mostSlots)
      continue;
    reportLimit(info.nameRange, "divides a buffer of rank " + std::to_string(rank) + " into " +
                                    std::to_string(largest) + " parts, MSCCL runtimes address " +
                                    std::to_string(mostSlots) + "; use fewer chunks or parallel instances");
    return;
  }
}

void Checker::checkThreadBlocks() {
  for (uint32_t rank = 0; rank != program.ranks(); ++rank) {
    uint32_t count = program.rankBegin[rank + 1] - program.rankBegin[rank];
    if (count <= limits.threadBlocks)
      continue;
    std::string most = std::to_string(limits.threadBlocks);
    reportLimit(info.nameRange, "has " + std::to_string(count) + " thread blocks on rank " + std::to_string(rank) +
                                    ", " + limits.runtime + " runs " + most + "; compile with --max-threadblocks=" +
                                    most + ", or use fewer channels or parallel instances");
    return;
  }
}

void Checker::checkChannels() {
  for (const ThreadBlock &block : program.threadBlocks)
    if (block.channel >= mostChannels) {
      reportLimit(placeOf(block, 0), "uses channel " + std::to_string(block.channel) + ", MSCCL runtimes have 0 to " +
                                         std::to_string(mostChannels - 1) +
                                         "; choose lower channels, or fewer parallel instances");
      return;
    }
  for (uint32_t rank = 0; rank != program.ranks(); ++rank)
    if (!checkPeers(rank))
      return;
}

bool Checker::checkPeers(uint32_t rank) {
  std::array<uint32_t, mostChannels> senders{};
  std::array<uint32_t, mostChannels> receivers{};
  for (uint32_t index = program.rankBegin[rank]; index != program.rankBegin[rank + 1]; ++index) {
    const ThreadBlock &block = program.threadBlocks[index];
    bool tooMany = (block.sendPeer >= 0 && ++senders[block.channel] > mostPeers) ||
                   (block.recvPeer >= 0 && ++receivers[block.channel] > mostPeers);
    if (!tooMany)
      continue;
    reportLimit(placeOf(block, 0), "has more than " + std::to_string(mostPeers) + " peers of rank " +
                                       std::to_string(rank) + " on channel " + std::to_string(block.channel) +
                                       ", which is all that MSCCL runtimes hold; spread them over more channels");
    return false;
  }
  return true;
}

void Checker::checkStepCounts() {
  for (uint32_t index = 0; index != program.threadBlocks.size(); ++index) {
    const ThreadBlock &block = program.threadBlocks[index];
    uint32_t count = layout.stepCount(block);
    if (count <= limits.steps)
      continue;
    uint32_t first = 0;
    while (layout.number(block.firstStep + first) < limits.steps)
      ++first;
    reportLimit(placeOf(block, first), "has " + std::to_string(count) + " steps in " + blockName(index) + ", " +
                                           limits.runtime + " runs " + std::to_string(limits.steps) +
                                           "; use more channels, or fewer, larger chunks");
    return;
  }
}

void Checker::checkSlotCounts() {
  for (const ThreadBlock &block : program.threadBlocks)
    for (uint32_t i = 0; i != block.stepCount; ++i) {
      uint32_t count = program.steps[block.firstStep + i].count;
      if (count <= mostSlotsPerStep)
        continue;
      reportLimit(placeOf(block, i),
                  "moves " + std::to_string(count) + " parts of a buffer at once, MSCCL runtimes move " +
                      std::to_string(mostSlotsPerStep) + "; use fewer, larger chunks, or several operations");
      return;
    }
}

void Checker::checkWaits() {
  for (const ThreadBlock &block : program.threadBlocks)
    for (uint32_t i = 0; i != block.stepCount; ++i) {
      const Step &step = program.steps[block.firstStep + i];
      for (uint32_t w = step.waitBegin; w != step.waitBegin + step.waitCount; ++w) {
        uint32_t other = program.waits[w].threadBlock;
        if (other < mostWaitedFor)
          continue;
        reportLimit(placeOf(block, i),
                    "waits for " + blockName(program.rankBegin[block.rank] + other) +
                        ", MSCCL runtimes can wait for 0 to " + std::to_string(mostWaitedFor - 1) +
                        "; use fewer channels, or compile with --max-threadblocks=" + std::to_string(mostWaitedFor));
        return;
      }
    }
}

bool Checker::run() {
  unsigned before = diags.errorCount();
  checkCollective();
  checkSizes();
  checkInputs();
  checkPlacement();
  checkName();
  checkBuffers();
  checkThreadBlocks();
  checkChannels();
  checkStepCounts();
  checkSlotCounts();
  checkWaits();
  return diags.errorCount() == before;
}

bool gc3::emit::checkMsccl(const Program &program, const MscclLayout &layout, MscclDialect dialect,
                           Diagnostics &diags) {
  return Checker(program, layout, dialect, diags).run();
}
