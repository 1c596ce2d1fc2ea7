// SPDX-License-Identifier: Apache-2.0
// A collective call of NCCL, with all its arguments.
#pragma once

#include "core/Factor.h"
#include "ncclapi/Abi.h"

#include <optional>
#include <string>
#include <string_view>

namespace gc3::ncclapi {

/// Bcast is Broadcast with one buffer: `send` equals `recv`. `op` has no meaning for collectives that do not reduce.
/// `root` is -1 for collectives without a root.
struct CollectiveCall {
  Collective collective;
  const void *send;
  void *recv;
  size_t count; ///< NCCL's count: elements of one block
  DataType type;
  RedOp op;
  int root;
  Comm comm;
  Stream stream;
  /// The operation that `op` denotes, if the application created it and gc3 has recorded it
  /// (Interposer::recordOperation).
  std::optional<core::PreMulSum> preMulSum{};
};

/// Returns the name of a collective in gc3 programs, such as `reduce_scatter`.
const char *standardName(Collective collective);

/// Returns why no program can run the call, whatever the bundles contain; empty if a program could run it. The result
/// is identical on all ranks.
std::string_view unsupportedReason(const CollectiveCall &call, int ranks);

/// Returns a text for the log, such as `AllReduce 1 MiB float sum`.
std::string describe(const CollectiveCall &call, int ranks);

/// Makes the call in the installed NCCL, and returns its result.
Result forward(const CollectiveCall &call);

} // namespace gc3::ncclapi
