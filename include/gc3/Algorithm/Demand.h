// SPDX-License-Identifier: Apache-2.0
// Start and end state of an algorithm: SCCL's relations pre and post (section 3.2), derived from the postcondition of a
// collective of the language.
#pragma once

#include "gc3/IR/Collective.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gc3::algorithm {

/// Chunk `index` of a rank's input or output.
struct BufferChunk {
  uint32_t rank, index;
};

/// A chunk is a value that some output must hold: one input chunk, or a reduction of several. Chunks are numbered in
/// the order in which the outputs name them, rank by rank; in the standard collectives this is block by block.
struct Demand {
  uint32_t ranks = 0;
  std::vector<uint32_t> sourceBegin = {0};
  std::vector<BufferChunk> sources; ///< inputs that make up chunk c, from sourceBegin[c] on
  std::vector<uint32_t> targetBegin = {0};
  std::vector<BufferChunk> targets; ///< outputs that must hold chunk c, from targetBegin[c] on, by rank

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

/// Returns true if every rank has the chunk in its output, in one place or several.
bool isWantedEverywhere(const Demand &demand, uint32_t chunk);

/// Returns the demand of `collective`. If a rank contributes to a chunk more than once, returns nothing and describes
/// the chunk in `error`. Calls `stops` several times a second; once it returns true, returns nothing and no error.
/// Linear in the outputs and the contributions.
std::optional<Demand> demandOf(const ir::Collective &collective, std::string &error,
                               const std::function<bool()> &stops = {});

} // namespace gc3::algorithm
