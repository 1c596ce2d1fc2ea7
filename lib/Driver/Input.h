// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

namespace gc3::driver {

/// The most bytes that a pipe or a device may deliver, except for .gc3 text.
inline constexpr size_t mostStreamedText = size_t(1) << 30;

/// Returns the bytes of the file at `path`; "-" is standard input. Returns null, and the reason in `problem`, if they
/// cannot be read, or if an input that is no regular file has more than `limit` bytes, because such an input can be
/// endless.
std::unique_ptr<llvm::MemoryBuffer> readInput(const std::string &path, size_t limit, std::string &problem);

} // namespace gc3::driver
