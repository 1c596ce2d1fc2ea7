// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gc3::greedy {

/// The result of a try.
enum class End {
  Found,
  Stopped, ///< by the caller's `stops`
  Stuck,   ///< no link can take a chunk, although chunks are missing
};

} // namespace gc3::greedy
