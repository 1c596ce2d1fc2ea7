// SPDX-License-Identifier: Apache-2.0
// The text of a collective call in log lines, for gc3's programs and for NCCL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gc3::core {

struct CallText {
  std::string_view name;
  uint64_t count;        ///< elements of one block
  uint64_t blocks;       ///< blocks of a rank's larger buffer; 0: depends on the program
  int type;              ///< data type; can be out of range
  std::optional<int> op; ///< operation, can be out of range; none: the call does not reduce
  bool premultiplies;    ///< true: the operation was created by the application, and `op` is ignored
  std::optional<int> root;
};

/// Returns for example `AllReduce 1 MiB float sum`, with the size by which programs are selected. If `blocks` is 0 or
/// the type is unknown, names the count instead: `shift 10 of float sum`.
std::string describe(const CallText &call);

} // namespace gc3::core
