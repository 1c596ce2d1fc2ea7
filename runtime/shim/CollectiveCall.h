// SPDX-License-Identifier: Apache-2.0
// A collective call, as the application made it.
#pragma once

#include "core/Factor.h"
#include "ncclapi/Abi.h"

#include <optional>
#include <string>
#include <string_view>

namespace gc3::shim {

using namespace ncclapi; // whose types are all that its functions take

/// Bcast is Broadcast with one buffer, `send` and `recv` alike. `op` means nothing to collectives that do not reduce;
/// `root` is -1 for those that have none.
struct CollectiveCall {
  Collective collective;
  const void *send;
  void *recv;
  size_t count; ///< as NCCL counts: elements of one block
  DataType type;
  RedOp op;
  int root;
  Comm comm;
  Stream stream;
  std::optional<core::PreMulSum> preMulSum{}; ///< what `op` is, if it is known to have been made by the application
};

/// The name that programs have for a collective.
const char *standardName(Collective collective);

/// Why no program can run the call, whatever the bundles; empty if one could. It depends on nothing that may differ
/// between ranks.
std::string_view unsupportedReason(const CollectiveCall &call, int ranks);

/// `AllReduce 1 MiB float sum`, for the log.
std::string describe(const CollectiveCall &call, int ranks);

/// The call to the installed NCCL, with its result.
Result forward(const CollectiveCall &call);

} // namespace gc3::shim
