// SPDX-License-Identifier: Apache-2.0
// The collectives of std/collectives.gc3, whose names say what calls of the runtime get.
#pragma once

#include "gc3/IR/Collective.h"
#include "llvm/ADT/StringRef.h"

namespace gc3::ir {

struct StandardCollective {
  /// Which ranks have a buffer, and how many blocks it has.
  enum class Buffer : uint8_t { Block, BlockPerRank, BlockOnRoot, BlockPerRankOnRoot };

  llvm::StringRef name;
  Buffer input, output;

  bool hasBlocks() const { return isWide(input) || isWide(output); } ///< one for each rank, on the larger side
  bool hasRoot() const { return isOnRoot(input) || isOnRoot(output); }
  static bool isWide(Buffer buffer) { return buffer == Buffer::BlockPerRank || buffer == Buffer::BlockPerRankOnRoot; }
  static bool isOnRoot(Buffer buffer) { return buffer >= Buffer::BlockOnRoot; }

  /// The first rank with the buffer that is on the root alone; nothing where no rank has it, or none is the root.
  std::optional<uint32_t> rootOf(const Collective &collective) const;
};

/// The one of that name, or null.
const StandardCollective *findStandard(llvm::StringRef name);

} // namespace gc3::ir
