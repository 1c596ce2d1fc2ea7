// SPDX-License-Identifier: Apache-2.0
// Describes a collective call in log lines, whether a program of gc3 or NCCL runs it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gc3::core {

struct CallText {
  std::string_view name;
  uint64_t count;        ///< elements of one block
  uint64_t blocks;       ///< blocks in the larger of a rank's two buffers; 0: the number depends on the program
  int type;              ///< data type; can be out of range
  std::optional<int> op; ///< operation, can be out of range; none: the call does not reduce
  bool premultiplies;    ///< true: the operation was created by the application, and `op` is ignored
  std::optional<int> root;
};

/// Returns for example `AllReduce 1 MiB float sum`. gc3 selects programs by this size. If `blocks` is 0 or the type is
/// unknown, the text has the count instead of the size, for example `shift 10 of float sum`.
std::string describe(const CallText &call);

} // namespace gc3::core
