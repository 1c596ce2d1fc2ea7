// SPDX-License-Identifier: Apache-2.0
// Writes bundles in memory from simple descriptions, for tests. Checks nothing, so it can write invalid bundles.
#pragma once

#include "Bundle_generated.h"
#include "bundle/Container.h"
#include "gc3/Common/Opcode.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace gc3::test {

using common::Opcode;

/// A slot of a buffer. `buffer` is 0 for the input, 1 for the output, and 2 + k for scratch buffer k.
struct Slot {
  uint8_t buffer = 0;
  uint32_t index = 0;
};
inline Slot in(uint32_t index) {
  return {common::inputBuffer, index};
}
inline Slot out(uint32_t index) {
  return {common::outputBuffer, index};
}
inline Slot scratch(uint32_t index, uint8_t buffer = 0) {
  return {static_cast<uint8_t>(common::firstScratchBuffer + buffer), index};
}

struct StepSpec {
  Opcode opcode = Opcode::Copy;
  Slot src, dst;
  uint32_t count = 1;
  std::vector<std::pair<uint32_t, uint32_t>> waits; ///< steps that this step waits for, as (thread block, step)
};

struct Block {
  int32_t sendPeer = -1, recvPeer = -1;
  uint32_t channel = 0;
  std::vector<StepSpec> steps;
};

struct Rank {
  uint32_t inputSlots = 0, outputSlots = 0;
  uint8_t alias = 0;
  uint32_t aliasOffset = 0;
  bool writesInput = false;
  std::vector<uint32_t> scratchSlots;
  std::vector<Block> blocks;
};

/// The input chunks, as (rank, chunk), whose sum an output chunk must hold. If the list is empty, the output chunk may
/// have any contents.
using Value = std::vector<std::pair<uint32_t, uint32_t>>;

struct ProgramSpec {
  std::string name;
  std::string collective;
  uint32_t inputChunks = 1, outputChunks = 1, subdivision = 1, maxCount = 1;
  uint64_t minBytes = 0, maxBytes = UINT64_MAX;
  std::vector<std::string> scratchNames{};
  uint32_t contributions = 0;
  bool inPlace = false;
  uint32_t fifoSlots = 8, minFifoSlots = 1;
  uint32_t verified = 15;  ///< Program.verified of the bundle; 15: all properties are proven
  bool wholeSlots = false; ///< Program.whole_slots: the runtime pads calls in which a slot would be short
  uint8_t protocol = 0;
  std::vector<Rank> ranks{};
  std::vector<std::vector<Value>> outputs{}; ///< postcondition, by rank and output chunk
  std::string form{};                        ///< empty: the bundle is older than version 1.1
  uint64_t meaning = 0;
  std::vector<bundle::fbs::TimePoint> times{}; ///< empty: the bundle has none, as before version 1.2
  bool pinned = false;
  uint32_t nodes = 0; ///< Program.nodes; 0: any wiring, as before version 1.3
};

/// An entry of Manifest.baselines.
struct BaselineSpec {
  std::string form;
  uint32_t ranks = 0;
  std::vector<bundle::fbs::TimePoint> times;
};

/// The contents of a rank's section, in the format of the bundle.
struct RankParts {
  uint32_t rank;
  std::vector<bundle::fbs::ThreadBlock> blocks;
  std::vector<bundle::fbs::Instruction> instructions;
  std::vector<bundle::fbs::Wait> waits;
};
struct CheckParts {
  std::vector<uint32_t> valueBegin{0}, rowOfRank, rowBegin{0}, rows;
  std::vector<bundle::fbs::Run> runs;
};

/// Functions that change the contents of a section before it is written. They make errors that a ProgramSpec can't
/// express.
struct Edits {
  std::function<void(RankParts &)> rank = [](RankParts &) {};
  std::function<void(CheckParts &)> check = [](CheckParts &) {};
};

/// Returns the bytes of a bundle with these programs and NCCL's times.
std::string buildBundle(const std::vector<ProgramSpec> &programs, const Edits &edits = {},
                        const std::vector<BaselineSpec> &baselines = {});

/// Header and section table of a bundle.
struct ContainerParts {
  bundle::FileHeader header;
  std::vector<bundle::SectionEntry> table;
};
ContainerParts containerOf(const std::string &bundle);
/// Returns the bundle with this header and section table, and with a correct header checksum.
std::string withContainer(std::string bundle, ContainerParts parts);

} // namespace gc3::test
