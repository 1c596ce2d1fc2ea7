// SPDX-License-Identifier: Apache-2.0
// Requests of ranks, and the check of a program's shape against a standard collective.
#pragma once

#include "gc3/Common/StandardCollective.h"

#include "core/Factor.h"
#include "core/Program.h"
#include "core/Result.h"

#include <optional>
#include <span>
#include <string>

namespace gc3::core {

/// The code that the C API has for a bundle's error.
Outcome toOutcome(const bundle::BundleStatus &status);

/// Which program a call means.
enum class CallKind : uint8_t {
  Standard,   ///< a standard collective: the program must have its shape and root
  Collective, ///< a collective by name, whatever its shape
  Program     ///< a program by name
};

struct Request {
  CallKind kind = CallKind::Standard;
  std::string_view name;
  const void *send = nullptr;
  void *recv = nullptr;
  uint64_t count = 0;
  gc3DataType_t type = gc3Float32;
  gc3RedOp_t op = gc3Sum;
  int root = -1;
  void *stream = nullptr;               ///< not for the host executor
  std::optional<PreMulSum> preMulSum{}; ///< `op` is gc3Sum then

  /// Equal in everything that has to be equal on all ranks, which factors have not.
  bool matches(const Request &other) const {
    return kind == other.kind && name == other.name && count == other.count && type == other.type && op == other.op &&
           root == other.root && multipliesAs(other);
  }

private:
  bool multipliesAs(const Request &other) const {
    return preMulSum.has_value() == other.preMulSum.has_value() &&
           (!preMulSum || preMulSum->type == other.preMulSum->type);
  }
};

/// A collective of no elements moves nothing, whatever program it would run.
inline bool isEmpty(const Request &request) {
  return request.count == 0 && request.kind != CallKind::Program;
}

/// Whether what one rank of `ranks` asks for is in range; gc3InvalidArgument.
Outcome checkRequest(const Request &request, uint32_t rank, uint32_t ranks);

/// Whether what all ranks ask for, one after the other, is in range and matches; gc3InvalidArgument, gc3InvalidUsage.
Outcome checkRequests(std::span<const Request> requests);

/// What one rank brings to a call.
struct RankRequest {
  uint32_t rank;
  Request request;
};

/// Whether the program's blocks are those of the collective; `root` receives the rank that is its root, or -1.
bool hasShape(const Program &program, const common::StandardCollective &standard, int &root);

} // namespace gc3::core
