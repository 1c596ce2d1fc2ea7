// SPDX-License-Identifier: Apache-2.0
// A rank's request for a collective call, and the check of a program's shape against a standard collective.
#pragma once

#include "gc3/Common/StandardCollective.h"

#include "core/Factor.h"
#include "core/Program.h"
#include "core/Result.h"

#include <optional>
#include <span>
#include <string>

namespace gc3::core {

/// Returns the C API's error code for a bundle's error, with the error's text.
Outcome toOutcome(const bundle::BundleStatus &status);

/// The kind of name by which a call selects its program.
enum class CallKind : uint8_t {
  Standard,   ///< a standard collective: the program must have its shape and root
  Collective, ///< a collective by name, with any shape
  Program     ///< a program by name
};
inline constexpr size_t callKindCount = 3;

struct Request {
  CallKind kind = CallKind::Standard;
  std::string_view name;
  const void *send = nullptr;
  void *recv = nullptr;
  uint64_t count = 0;
  gc3DataType_t type = gc3Float32;
  gc3RedOp_t op = gc3Sum;
  int root = -1;
  void *stream = nullptr;               ///< ignored by the host executor
  std::optional<PreMulSum> preMulSum{}; ///< if set, `op` is gc3Sum

  /// Returns whether the two requests have equal values in all fields that must be identical on all ranks. Factors can
  /// differ.
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

/// Returns whether the request is for a collective with zero elements. Such a call moves no data, whichever program
/// serves it.
inline bool isEmpty(const Request &request) {
  return request.count == 0 && request.kind != CallKind::Program;
}

/// Returns gc3InvalidArgument if a field of the request is out of range. The error text names `rank`.
Outcome checkRequest(const Request &request, uint32_t rank, uint32_t ranks);

/// Checks the requests of all ranks; `requests` is indexed by rank. Returns gc3InvalidArgument if a request is out of
/// range, and gc3InvalidUsage if two requests do not match.
Outcome checkRequests(std::span<const Request> requests);

/// One rank's part of a call.
struct RankRequest {
  uint32_t rank;
  Request request;
};

/// Returns whether each rank's buffers have as many blocks as the collective requires. Sets `root` to the program's
/// root, or to -1 if the collective has no root.
bool hasShape(const Program &program, const common::StandardCollective &standard, int &root);

} // namespace gc3::core
