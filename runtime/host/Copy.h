// SPDX-License-Identifier: Apache-2.0
// Copies of what one step moves.
#pragma once

#include <cstddef>

namespace gc3::host {

/// Copies `bytes` that do not overlap; `to` may be `from`.
void copyBytes(void *to, const void *from, size_t bytes);

/// As copyBytes, past the caches: for what nobody reads soon. Saves reading the lines that are overwritten. Not ordered
/// with later stores, not even releases, before finishStreams().
void streamBytes(void *to, const void *from, size_t bytes);
void finishStreams();

} // namespace gc3::host
