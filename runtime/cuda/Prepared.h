// SPDX-License-Identifier: Apache-2.0
// What calls come to whatever their buffers: layouts and geometry, which take time to work out and are alike in every
// call of a program with the same count, type and operation.
#pragma once

#include "cuda/GpuProgram.h"
#include "host/Staging.h"

#include <memory>
#include <vector>

namespace gc3::cuda {

/// Stays as it is, and where it is.
struct Prepared {
  Prepared(const GpuProgram &ofProgram, const host::Request &request);
  Prepared(const Prepared &) = delete;
  Prepared &operator=(const Prepared &) = delete;

  const GpuProgram &program;
  const uint64_t count;
  const gc3DataType_t type;
  const gc3RedOp_t op;
  host::Layout layout; ///< of the caller's buffers
  host::Layout padded; ///< of those that the kernel works on, where they have whole slots and the caller's have not
  host::Staging placer;
  device::Call call{}; ///< without memory and stop word
  Launch launch{};     ///< without stream and arguments

  bool isPadded() const { return padded.count > layout.count; }
  host::ElementType elementType() const { return static_cast<host::ElementType>(type); }

private:
  friend class PreparedCalls;
  host::Outcome prepare(const host::Request &request);
};

/// Those of late. One thread at a time.
class PreparedCalls {
public:
  static constexpr size_t most = 64;

  /// For a valid request; others than it go when there are too many. gc3InvalidArgument, gc3InvalidUsage: the program
  /// can't make such a call, here.
  host::Outcome find(const GpuProgram &program, const host::Request &request, std::shared_ptr<const Prepared> &found);

private:
  std::vector<std::shared_ptr<const Prepared>> calls;
  size_t next = 0; ///< to be replaced
};

} // namespace gc3::cuda
