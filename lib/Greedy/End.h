// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gc3::greedy {

/// How a try has ended.
enum class End {
  Found,
  Stopped, ///< from outside
  Stuck,   ///< no link may take anything, though something is missing
};

} // namespace gc3::greedy
