// SPDX-License-Identifier: Apache-2.0
// Splits and joins bundles, so that tests can change a section. Joining corrects what a reader checks against
// accidental damage: the section table, its checksums, and the digests of programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gc3::test {

/// A section: its fields in the section table, and its bytes.
struct Section {
  uint32_t kind = 0, program = 0, rank = 0;
  std::string bytes;
};

/// Returns the sections of a file, and ignores its checksums. Returns nothing if the section table is inconsistent.
std::optional<std::vector<Section>> splitBundle(std::string_view bytes);

/// Returns a file with these sections in this order, padded, with correct checksums. If the first section is a valid
/// manifest, also corrects the digest of each program that has this field and all its sections.
std::string joinBundle(std::vector<Section> sections);

} // namespace gc3::test
