// SPDX-License-Identifier: Apache-2.0
// The parts of a launch that do not depend on buffers: layouts and geometry. They are expensive to compute, and
// identical in every call of a program with the same shape, count, type and operation.
#pragma once

#include "core/Placement.h"
#include "cuda/GpuProgram.h"

#include <memory>
#include <vector>

namespace gc3::cuda {

/// A prepared launch. Immutable after PreparedLaunches::find() returns it.
struct PreparedLaunch {
  PreparedLaunch(const GpuProgram &ofProgram, const core::Shape &inShape, const core::Request &request);
  PreparedLaunch(const PreparedLaunch &) = delete;
  PreparedLaunch &operator=(const PreparedLaunch &) = delete;

  const GpuProgram &program;
  const core::Shape shape;
  const uint64_t count;
  const gc3DataType_t type;
  const gc3RedOp_t op;
  core::Layout layout; ///< layout of the caller's buffers
  core::Layout padded; ///< layout of buffers with whole slots, if the program needs these; else empty
  core::Placer placer;
  kernel::KernelArgs call{}; ///< all fields except `memory` and `stop` are set
  Launch launch{};           ///< all fields except `stream` and `arguments` are set

  bool isPadded() const { return padded.count > layout.count; }
  core::ElementType elementType() const { return static_cast<core::ElementType>(type); }

private:
  friend class PreparedLaunches;
  core::Outcome prepare(const core::Request &request);
};

/// Keeps up to `most` prepared launches. Not thread-safe.
class PreparedLaunches {
public:
  static constexpr size_t most = 64;

  /// Returns the prepared launch for a valid request. Creates it if necessary, which can evict another one. Returns
  /// gc3InvalidArgument or gc3InvalidUsage if the program cannot run such a call on this GPU.
  core::Result<std::shared_ptr<const PreparedLaunch>> find(const GpuProgram &program, const core::Shape &shape,
                                                           const core::Request &request);

private:
  std::vector<std::shared_ptr<const PreparedLaunch>> calls;
  size_t next = 0; ///< next entry to replace
};

} // namespace gc3::cuda
