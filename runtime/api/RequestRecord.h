// SPDX-License-Identifier: Apache-2.0
// A request as plain data, which other processes can read.
#pragma once

#include "core/Request.h"

#include <cstdint>
#include <type_traits>

namespace gc3::api {

struct RequestRecord {
  static constexpr size_t mostNameBytes = 960;

  uint64_t count;
  int32_t type, op, root;
  core::CallKind kind;
  bool isPreMulSum;
  core::ElementType scalarType;
  uint16_t nameBytes;
  char name[mostNameBytes];

  /// Returns whether the record has space for the request's name.
  static bool fits(const core::Request &request) { return request.name.size() <= mostNameBytes; }
  /// Requires fits().
  void write(const core::Request &request);
  /// Returns the request without buffers and scalar. Its name points into this record.
  core::Request read() const;
};

static_assert(std::is_trivially_copyable_v<RequestRecord> && std::is_trivially_default_constructible_v<RequestRecord>);

} // namespace gc3::api
