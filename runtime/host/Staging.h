// SPDX-License-Identifier: Apache-2.0
// Copies data before and after a run if the caller places its buffers differently from the program, or if inputs must
// be scaled. So every program serves every call. Staging.cpp lists the cases. The copies of a rank access only that
// rank's buffers.
#pragma once

#include "core/Placement.h"
#include "host/SiteMemory.h"

#include <array>
#include <vector>

namespace gc3::host {

/// The addresses of one rank's buffers. With an alias, both pointers are set. But a run uses only the outer buffer,
/// because the inner buffer's slots are slots of the outer buffer.
struct RankMemory {
  std::byte *input = nullptr;
  std::byte *output = nullptr;
  /// Steps read the caller's input at `input`, although the program's alias places it in the output.
  bool separate = false;
  /// The buffers exceed the caches. Results that no step reads again bypass the caches, unless the destination is
  /// already in a cache.
  bool streams = false;
  /// The call is in place, but the program has separate buffers. Steps read the slots of Transfers::Staged from copies
  /// at `staged`, which the rank makes tile by tile.
  bool inPlace = false;
  std::byte *staged = nullptr;
};

/// The kinds of placement for which messages may skip their slots, given one rank's buffers. A call can use the kinds
/// that all ranks have in common. `Mapped` is added if messages between processes skip their slots as between threads,
/// because all buffers are in arenas (host/BufferArena.h).
enum class Sharing : uint8_t {
  None = 0,      ///< none, because copies must be made first
  AsWritten = 1, ///< as LoadedProgram::asWritten allows
  InPlace = 2,   ///< as LoadedProgram::inPlace allows
  Either = 3,
  Mapped = 4
};
constexpr Sharing operator&(Sharing a, Sharing b) {
  return static_cast<Sharing>(static_cast<uint8_t>(a) & static_cast<uint8_t>(b));
}
constexpr Sharing operator|(Sharing a, Sharing b) {
  return static_cast<Sharing>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b));
}
/// Returns whether `kinds` has one of the kinds `wanted`.
constexpr bool hasAny(Sharing kinds, Sharing wanted) {
  return (kinds & wanted) != Sharing::None;
}

class Staging {
public:
  /// Plans the copies for all ranks and placements. Requirements and errors are those of core::Placer::plan.
  core::Outcome plan(const core::LoadedProgram &loaded, const core::Layout &layout, const core::Request &request);

  /// Returns the object that determines the placement of ranks' buffers.
  const core::Placer &placer() const { return placing; }

  /// Returns whether a run with this placement needs the memory that reserve() allocates.
  bool needsReserve(uint32_t rank, core::Placement placement) const {
    return planOf(rank, placement).privateBytes != 0;
  }
  /// Allocates the private copies. Returns gc3SystemError if there is no memory.
  core::Outcome reserve(const Site &site);
  bool reserved() const { return staging.size() >= privateBytes; }
  size_t bytes() const { return staging.size(); }
  /// Releases the private copies that processes share.
  void discard() { staging.discard(); }

  /// Returns the buffers on which the run works.
  RankMemory memory(uint32_t rank, core::Placement placement, const core::Request &request) const;

  /// Returns the sharing that a rank's placement allows. If it is not None, before() only fills slots that no step
  /// touches. So other ranks may read and write the caller's buffers before before() is done.
  Sharing sharing(uint32_t rank, core::Placement placement) const;
  /// Make the copies of one rank, before and after the run.
  void before(uint32_t rank, core::Placement placement, const core::Request &request) const;
  void after(uint32_t rank, core::Placement placement, const core::Request &request) const;

private:
  struct RankPlan {
    bool toPrivate = false;   ///< before: copy the caller's input to private memory
    bool toOutput = false;    ///< before: copy the input (or its private copy) to its place in the output
    bool scaleHere = false;   ///< before: scale the aliased input in place
    bool fromPrivate = false; ///< after: copy the output from private memory
    bool divide = false;      ///< after: divide for an integer average
    bool separate = false;    ///< before: copy to the output only those input slots that no step writes
    bool inPlace = false;     ///< see RankMemory
    size_t privateBytes = 0;  ///< size of the private memory
  };
  static size_t index(core::Placement placement) { return static_cast<size_t>(placement); }
  RankPlan planRank(uint32_t rank, core::Placement placement) const;
  const RankPlan &planOf(uint32_t rank, core::Placement placement) const { return plans[rank][index(placement)]; }
  std::byte *inner(uint32_t rank, std::byte *outer) const;
  void copyInput(std::byte *to, const core::Request &request, uint64_t elements) const;

  void copyUntouched(uint32_t rank, std::byte *output, const std::byte *input) const;
  std::byte *privateCopy(uint32_t rank) const { return staging.data() + privateOffset[rank]; }

  core::Placer placing;
  const core::LoadedProgram *loaded = nullptr;
  const core::Program *program = nullptr;
  const core::Layout *layout = nullptr;
  core::ElementType type = core::ElementType::Float;
  core::Scaling scaling;
  std::vector<std::array<RankPlan, core::placementCount>> plans;
  std::vector<size_t> privateOffset; ///< indexed by rank
  size_t privateBytes = 0;
  SiteMemory staging;
};

} // namespace gc3::host
