// SPDX-License-Identifier: Apache-2.0
// What lines of the log say of a collective call, whoever serves it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gc3::core {

struct CallText {
  std::string_view name;
  uint64_t count;        ///< elements of one block
  uint64_t blocks;       ///< that the larger of one rank's buffers has; 0: that depends on the program
  int type;              ///< may be unknown
  std::optional<int> op; ///< none where nothing is reduced; may be unknown
  bool premultiplies;    ///< an operation that the application has made, whatever its number
  std::optional<int> root;
};

/// `AllReduce 1 MiB float sum`: the bytes are those by which programs are chosen. `shift 10 of float sum` where they
/// are not known.
std::string describe(const CallText &call);

} // namespace gc3::core
