// SPDX-License-Identifier: Apache-2.0
// Splits and joins bundles, so that tests can change a section and still pass the checks against accidental damage: the
// section table, its checksums, and the digests of programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gc3::test {

/// A section: the fields of its line in the section table, and its bytes.
struct Section {
  uint32_t kind = 0, program = 0, rank = 0;
  std::string bytes;
};

/// Returns the sections of a file with a consistent section table, regardless of checksums. Otherwise returns nothing.
std::optional<std::vector<Section>> splitBundle(std::string_view bytes);

/// Returns a file with these sections in this order, padded, with correct checksums. If the first section is a valid
/// manifest, also corrects the digests of programs that have this field and whose sections are present.
std::string joinBundle(std::vector<Section> sections);

} // namespace gc3::test
