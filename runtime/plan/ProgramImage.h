// SPDX-License-Identifier: Apache-2.0
// The data of a program on one GPU, for the ranks that one launch runs. These are all ranks if they share the GPU
// (LoopbackWorld), and one rank under NCCL. The image does not contain the connections (ConnectionPool.h), only the
// addresses of their ends.
#pragma once

#include "plan/ConnectionPool.h"
#include "plan/DirectMessages.h"
#include "plan/SwitchSteps.h"

#include <vector>

namespace gc3::plan {

/// The layout of an image in device memory. It begins with the data that the kernel only reads. Counters and reports
/// follow, which are 0 initially.
///
/// If messages are direct only in some calls, or if some calls use the switch, the image has several versions of all
/// steps (kernel/Image.h). Each block then chooses a version in each call.
class ProgramImage {
public:
  /// `program` must outlive this object. `slots` is the number of slots of each connection. If there are direct
  /// messages, the launch must run under Simple, and the buffers of its calls must overlap as the program's do.
  ProgramImage(const core::Program &program, core::RankRange ranks, uint32_t slots, DirectMessages direct = {},
               SwitchSteps switchSteps = {});

  const DirectMessages &directMessages() const { return direct; }
  /// Returns true if there is a version of the steps for calls over the switch.
  bool mayUseSwitch() const { return switchSteps.any(); }

  size_t bytes() const { return total; }            ///< size of the image, whose address must be a multiple of 128
  size_t constantBytes() const { return constant; } ///< size of the constant data at the beginning of the image
  uint32_t blocks() const { return endBlock - firstBlock; } ///< number of blocks of the grid
  core::RankRange ranks() const { return range; }

  /// Returns the constant data for an image at `base`. Sets `blocks` and `peers` of `call`.
  std::vector<std::byte> constants(std::byte *base, const ConnectionEnds &ends, kernel::KernelArgs &call) const;
  /// Returns the address of the reports of all grid blocks, for an image at `base`.
  const kernel::Report *reports(const std::byte *base) const;

private:
  /// The offsets of the arrays.
  struct Offsets {
    size_t blocks, steps, waits, networkSends, networkReceives; // constant
    size_t progress, tiles, reports;                            // state
  };
  template <typename T>
  size_t reserve(size_t count);
  uint32_t steps() const { return program.firstStep(range.end) - program.firstStep(range.first); }
  void fillSteps(uint32_t r, std::byte *host, uint32_t version) const;
  void fillDirect(uint32_t number, uint32_t version, kernel::StepImage &step) const;
  void fillSwitch(uint32_t number, kernel::StepImage &step) const;
  void fillWaits(uint32_t r, std::byte *host, uint32_t firstWait) const;
  void fillBlocks(uint32_t r, std::byte *host, std::byte *base, const ConnectionEnds &ends, uint32_t firstStep,
                  uint32_t firstWait) const;
  void fillConnections(uint32_t number, std::byte *host, std::byte *base, const ConnectionEnds &ends) const;

  const core::Program &program;
  const core::RankRange range;
  const uint32_t slots;
  const uint32_t firstBlock, endBlock; ///< range of the program's thread blocks
  const DirectMessages direct;
  const SwitchSteps switchSteps;
  const uint32_t versions; ///< number of versions of each step
  Offsets offsets{};
  size_t constant = 0, total = 0;
};

} // namespace gc3::plan
