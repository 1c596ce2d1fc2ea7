// SPDX-License-Identifier: Apache-2.0
// Parses JSON (RFC 8259), except numbers with an exponent, which traces do not contain.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gc3::test {

struct Json {
  enum class Kind : uint8_t { Null, Boolean, Number, String, Array, Object } kind = Kind::Null;
  std::string text;              ///< contents of a string; for numbers, booleans and null: the source text
  std::vector<Json> items;       ///< elements of an array or an object
  std::vector<std::string> keys; ///< keys of an object, in the order of `items`

  /// Returns the member with this key, or null.
  const Json *find(std::string_view key) const;
};

/// Returns nothing unless the text is exactly one JSON value.
std::optional<Json> parseJson(std::string_view text);

} // namespace gc3::test
