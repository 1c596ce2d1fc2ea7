// SPDX-License-Identifier: Apache-2.0
// Copies bytes, through the caches or bypassing them.
#pragma once

#include <cstddef>

namespace gc3::host {

/// Copies `bytes` bytes. The ranges must not overlap, except that `to` can equal `from`.
void copyBytes(void *to, const void *from, size_t bytes);

/// Like copyBytes, but bypasses the caches, for data that no thread reads soon. The processor then need not load the
/// lines that it overwrites. Call finishStreams() afterwards: until then, no later store is ordered after these stores,
/// not even a release store.
void streamBytes(void *to, const void *from, size_t bytes);
void finishStreams();

} // namespace gc3::host
