// SPDX-License-Identifier: Apache-2.0
// What the processes of a job exchange: the share of one process, or of all together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gc3::run {

struct Share {
  std::string problem{};   ///< an error message, which ends the job; together: that of the first process with one
  std::string complaint{}; ///< lines about wrong elements; together: those of the first process with some
  uint64_t wrong = 0;      ///< number of wrong elements; together: the sum
  double seconds = 0;      ///< a time of this process's ranks; together: the longest
  std::string text{};      ///< together: that of process 0
};

/// Writes a share as bytes, which only processes of the same byte order can read. Cuts texts after 64 KiB.
std::vector<uint8_t> writeShare(const Share &share);
/// Returns nothing if the bytes are not a share.
std::optional<Share> readShare(std::span<const uint8_t> bytes);

/// Returns the share of all processes together. `names` are those of the processes. The name of its process comes
/// before a problem, unless all processes have the same problem.
Share together(std::span<const Share> shares, std::span<const std::string> names);

} // namespace gc3::run
