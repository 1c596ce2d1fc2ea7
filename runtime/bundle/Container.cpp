// SPDX-License-Identifier: Apache-2.0
// Checksums of a bundle's container (docs/bundle.md): XXH3-64. Bytes that are not contiguous are hashed as a stream.
#include "bundle/Container.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace gc3::bundle {

namespace {

/// A streaming XXH3 state, initialised by its constructor.
class Hasher {
public:
  Hasher() { XXH3_64bits_reset(&state); }
  void add(const void *bytes, size_t size) { XXH3_64bits_update(&state, bytes, size); }
  uint64_t finish() const { return XXH3_64bits_digest(&state); }

private:
  XXH3_state_t state;
};

} // namespace

uint64_t checksum(const void *bytes, size_t size) {
  return XXH3_64bits(bytes, size);
}

uint64_t headerChecksum(const FileHeader &header, const SectionEntry *table) {
  Hasher hasher;
  hasher.add(&header, offsetof(FileHeader, checksum));
  hasher.add(table, size_t{header.sections} * sizeof(SectionEntry));
  return hasher.finish();
}

uint64_t programDigest(const SectionEntry *first, size_t count) {
  Hasher hasher;
  for (size_t i = 0; i < count; ++i)
    hasher.add(&first[i].checksum, sizeof first[i].checksum);
  return hasher.finish();
}

} // namespace gc3::bundle
