// SPDX-License-Identifier: Apache-2.0
// Bundles as lists of sections, so that tests can change one and get past everything that only guards against
// accidents: the table, its checksums, and the digests of programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gc3::test {

/// What lies behind one line of a section table.
struct Section {
  uint32_t kind = 0, program = 0, rank = 0;
  std::string bytes;
};

/// The sections of a file whose table makes sense, whether its checksums are right or not; else nothing.
std::optional<std::vector<Section>> splitBundle(std::string_view bytes);

/// A file with these sections in this order, padded and with all checksums right; and, where the first section is a
/// sound manifest, with the right digests in it, as far as its programs have the field and the sections are there.
std::string joinBundle(std::vector<Section> sections);

} // namespace gc3::test
