// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

namespace gc3::driver {

/// Bytes of what is no .gc3 text that a pipe or a device may bring.
inline constexpr size_t mostStreamedText = size_t(1) << 30;

/// The bytes of the file at `path`, "-" being standard input, or null and in `problem` why there are none. What is no
/// regular file may go on for ever, so of it at most `limit` bytes are taken; more are a problem, too.
std::unique_ptr<llvm::MemoryBuffer> readInput(const std::string &path, size_t limit, std::string &problem);

} // namespace gc3::driver
