// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace gc3::parse {

/// Reads `12`, `0xff`, `1_000` or `32KiB`. Returns an empty string on success, else the fault. Accepts the value 2^63,
/// because -2^63 is an int.
std::string readInt(llvm::StringRef spelling, uint64_t &value);

} // namespace gc3::parse
