// SPDX-License-Identifier: Apache-2.0
// Bridges how a call places its buffers and how a program expects them: in place or not, inputs scaled. For each rank
// and placement it knows which copies come before and after the run, so that every program serves every call; see the
// cases in Staging.cpp. What it does for a rank touches that rank's buffers only.
#pragma once

#include "core/Placement.h"
#include "host/Memory.h"

#include <array>
#include <vector>

namespace gc3::host {

/// Where one rank's buffers lie. With an alias both pointers are set: the inner one is ignored, its slots are those of
/// the outer.
struct RankMemory {
  std::byte *input = nullptr;
  std::byte *output = nullptr;
  /// Steps that read what the caller brought find it in `input`, although an alias puts the input into the output.
  bool separate = false;
  /// There is too much of it for the caches: what no step reads again goes past them, unless it goes where the rank has
  /// just read.
  bool streams = false;
  /// Input and output lie as the collective has them in place, and the program has not: steps read what is Staged from
  /// copies at `staged`, made tile by tile.
  bool inPlace = false;
  std::byte *staged = nullptr;
};

/// Of which kind a call may be, by what one rank brings, for messages to skip their slots: those that all ranks have in
/// common.
enum class Sharing : uint8_t {
  None = 0,      ///< there are copies to be made first
  AsWritten = 1, ///< as LoadedProgram::asWritten says
  InPlace = 2,   ///< as LoadedProgram::inPlace says
  Either = 3
};
constexpr Sharing operator&(Sharing a, Sharing b) {
  return static_cast<Sharing>(static_cast<uint8_t>(a) & static_cast<uint8_t>(b));
}

class Staging {
public:
  /// Decides for all ranks and placements; as core::Placer::plan.
  core::Outcome plan(const core::LoadedProgram &loaded, const core::Layout &layout, const core::Request &request);

  /// How ranks' buffers lie.
  const core::Placer &placer() const { return placing; }

  /// Whether runs of that placement need reserve() first.
  bool needsReserve(uint32_t rank, core::Placement placement) const {
    return planOf(rank, placement).privateBytes != 0;
  }
  /// Makes room for private copies; gc3SystemError without memory.
  core::Outcome reserve();
  bool reserved() const { return staging.size() >= privateBytes; }
  size_t bytes() const { return staging.size(); }

  /// What the run works on.
  RankMemory memory(uint32_t rank, core::Placement placement, const core::Request &request) const;

  /// Anything but None: a run may read and write the caller's buffers before before() is over, which only fills in what
  /// no step touches.
  Sharing sharing(uint32_t rank, core::Placement placement) const;
  /// The copies of one rank.
  void before(uint32_t rank, core::Placement placement, const core::Request &request) const;
  void after(uint32_t rank, core::Placement placement, const core::Request &request) const;

private:
  struct RankPlan {
    bool toPrivate = false;   ///< before: the caller's input into private memory
    bool toOutput = false;    ///< before: the input (private copy, if there is one) into its place in the output
    bool scaleHere = false;   ///< before: scale the aliased input where it lies
    bool fromPrivate = false; ///< after: the output out of private memory
    bool divide = false;      ///< after: the integer average
    bool separate = false;    ///< before: only what no step writes goes from the input to its place in the output
    bool inPlace = false;     ///< see RankMemory
    size_t privateBytes = 0;  ///< that it needs
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
  std::vector<size_t> privateOffset; ///< by rank
  size_t privateBytes = 0;
  Memory staging;
};

} // namespace gc3::host
