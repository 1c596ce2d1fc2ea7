// SPDX-License-Identifier: Apache-2.0
// Copies the data of one step.
#pragma once

#include <cstddef>

namespace gc3::host {

/// Copies `bytes` bytes. The ranges must not overlap, except that `to` can equal `from`.
void copyBytes(void *to, const void *from, size_t bytes);

/// Like copyBytes, but bypasses the caches: for data that no thread reads soon. This saves loading the lines that are
/// overwritten. Later stores, even releases, are not ordered after these stores before finishStreams().
void streamBytes(void *to, const void *from, size_t bytes);
void finishStreams();

} // namespace gc3::host
