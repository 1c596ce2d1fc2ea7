// SPDX-License-Identifier: Apache-2.0
// Reads JSON (RFC 8259), all of it or nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gc3::test {

struct Json {
  enum class Kind : uint8_t { Null, Boolean, Number, String, Array, Object } kind = Kind::Null;
  std::string text;              ///< of a string; of others as they were written
  std::vector<Json> items;       ///< of an array or an object
  std::vector<std::string> keys; ///< of an object, by item

  /// A member; null where there is none.
  const Json *find(std::string_view key) const;
};

/// Nothing where the text is not one JSON value.
std::optional<Json> parseJson(std::string_view text);

} // namespace gc3::test
