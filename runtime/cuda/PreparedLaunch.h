// SPDX-License-Identifier: Apache-2.0
// What calls come to whatever their buffers: layouts and geometry, which take time to work out and are alike in every
// call of a program with the same count, type and operation.
#pragma once

#include "core/Placement.h"
#include "cuda/GpuProgram.h"

#include <memory>
#include <vector>

namespace gc3::cuda {

/// Stays as it is, and where it is.
struct PreparedLaunch {
  PreparedLaunch(const GpuProgram &ofProgram, const core::Request &request);
  PreparedLaunch(const PreparedLaunch &) = delete;
  PreparedLaunch &operator=(const PreparedLaunch &) = delete;

  const GpuProgram &program;
  const uint64_t count;
  const gc3DataType_t type;
  const gc3RedOp_t op;
  core::Layout layout; ///< of the caller's buffers
  core::Layout padded; ///< of those that the kernel works on, where they have whole slots and the caller's have not
  core::Placer placer;
  kernel::KernelArgs call{}; ///< without memory and stop word
  Launch launch{};           ///< without stream and arguments

  bool isPadded() const { return padded.count > layout.count; }
  core::ElementType elementType() const { return static_cast<core::ElementType>(type); }

private:
  friend class PreparedLaunches;
  core::Outcome prepare(const core::Request &request);
};

/// Those of late. One thread at a time.
class PreparedLaunches {
public:
  static constexpr size_t most = 64;

  /// For a valid request; others than it go when there are too many. gc3InvalidArgument, gc3InvalidUsage: the program
  /// can't make such a call, here.
  core::Result<std::shared_ptr<const PreparedLaunch>> find(const GpuProgram &program, const core::Request &request);

private:
  std::vector<std::shared_ptr<const PreparedLaunch>> calls;
  size_t next = 0; ///< to be replaced
};

} // namespace gc3::cuda
