// SPDX-License-Identifier: Apache-2.0
// The kernel's buffer that contains a buffer of the program. The kernel has one buffer for all scratch buffers. An
// aliased buffer is a part of the rank's other buffer.
#pragma once

#include "bundle/BundleFile.h"
#include "kernel/Image.h"

namespace gc3::plan {

/// A slot of a kernel's buffer.
struct BufferPlace {
  kernel::Buffer buffer;
  uint32_t slot;
  bool operator==(const BufferPlace &) const = default;
};

/// Returns the place of slot `slot` of buffer `buffer` of the program.
BufferPlace placeOf(const bundle::RankView &view, uint8_t buffer, uint32_t slot);

} // namespace gc3::plan
