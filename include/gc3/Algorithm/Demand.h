// SPDX-License-Identifier: Apache-2.0
// The demand that an algorithm must satisfy: the chunks that ranks have at the start and must have at the end. These
// are SCCL's relations pre and post (section 3.2), derived from the postcondition of a collective.
#pragma once

#include "gc3/IR/Collective.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gc3::algorithm {

/// Chunk `index` of the input or output of `rank`.
struct BufferChunk {
  uint32_t rank, index;
};

/// The chunks of a demand, with their sources and targets. A chunk is a value that some output must hold: one input
/// chunk, or a reduction of several input chunks. Chunks are numbered in the order in which they first occur in the
/// outputs, rank by rank. In the standard collectives, this order is block by block.
struct Demand {
  uint32_t ranks = 0;
  std::vector<uint32_t> sourceBegin = {0};
  std::vector<BufferChunk> sources; ///< input chunks that form chunk c: [sourceBegin[c], sourceBegin[c + 1])
  std::vector<uint32_t> targetBegin = {0};
  /// output chunks that must hold chunk c: [targetBegin[c], targetBegin[c + 1]), ordered by rank
  std::vector<BufferChunk> targets;

  uint32_t chunks() const { return static_cast<uint32_t>(sourceBegin.size()) - 1; }
  llvm::ArrayRef<BufferChunk> sourcesOf(uint32_t chunk) const {
    return llvm::makeArrayRef(sources).slice(sourceBegin[chunk], sourceBegin[chunk + 1] - sourceBegin[chunk]);
  }
  llvm::ArrayRef<BufferChunk> targetsOf(uint32_t chunk) const {
    return llvm::makeArrayRef(targets).slice(targetBegin[chunk], targetBegin[chunk + 1] - targetBegin[chunk]);
  }
  /// Returns true if some chunk is a reduction.
  bool combines() const { return sources.size() > chunks(); }
};

/// Returns true if every rank must hold the chunk in its output, at one index or at several.
bool isWantedEverywhere(const Demand &demand, uint32_t chunk);

/// Returns the demand of `collective`. If a rank contributes to a chunk more than once, returns nothing and describes
/// the chunk in `error`. Calls `stops` several times a second; once it returns true, returns nothing and no error.
/// Linear in the output chunks and their contributions.
std::optional<Demand> demandOf(const ir::Collective &collective, std::string &error,
                               const std::function<bool()> &stops = {});

} // namespace gc3::algorithm
