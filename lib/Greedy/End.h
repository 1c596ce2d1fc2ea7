// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gc3::greedy {

/// The result of a try.
enum class End {
  Found,
  Stopped, ///< the caller's `stops` returned true
  Stuck,   ///< no link can send a chunk, although ranks still lack chunks
};

} // namespace gc3::greedy
