// SPDX-License-Identifier: Apache-2.0
// Places in source text, as two 32-bit offsets into the concatenation of all loaded files.
#pragma once

#include <cstdint>

namespace gc3 {

/// A half-open range of bytes. Offsets are global over all files of a SourceManager; offset 0 means no place.
struct SourceRange {
  uint32_t begin = 0;
  uint32_t end = 0;

  bool isValid() const { return begin != 0; }
  bool operator==(const SourceRange &) const = default;
};

} // namespace gc3
