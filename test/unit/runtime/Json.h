// SPDX-License-Identifier: Apache-2.0
// Reads JSON (RFC 8259) completely, or fails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gc3::test {

struct Json {
  enum class Kind : uint8_t { Null, Boolean, Number, String, Array, Object } kind = Kind::Null;
  std::string text;              ///< contents of a string; source text of other values
  std::vector<Json> items;       ///< elements of an array or an object
  std::vector<std::string> keys; ///< keys of an object, in the order of `items`

  /// Returns the member with this key, or null.
  const Json *find(std::string_view key) const;
};

/// Returns nothing unless the text is exactly one JSON value.
std::optional<Json> parseJson(std::string_view text);

} // namespace gc3::test
