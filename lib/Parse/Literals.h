// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace gc3::parse {

/// Reads `12`, `0xff`, `1_000` or `32KiB`. An empty result is success; else what is wrong. A value of 2^63 counts as
/// good: only a minus in front makes it an int.
std::string readInt(llvm::StringRef spelling, uint64_t &value);

} // namespace gc3::parse
