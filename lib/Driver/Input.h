// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

namespace gc3::driver {

/// Maximum number of bytes that gc3c reads from a pipe or a device; parse::MaxFileSize is the limit for .gc3 text.
inline constexpr size_t mostStreamedText = size_t(1) << 30;

/// Returns the bytes of the file at `path`; "-" is standard input. If the bytes cannot be read, returns null and stores
/// the reason in `problem`. `limit` applies only to inputs that are not regular files, because these can be endless; an
/// input with more bytes is an error.
std::unique_ptr<llvm::MemoryBuffer> readInput(const std::string &path, size_t limit, std::string &problem);

} // namespace gc3::driver
