// SPDX-License-Identifier: Apache-2.0
// Sizes on command lines.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

namespace gc3::common {

/// Parses a number with an optional unit of bytes: K M G T and KiB MiB GiB TiB are powers of 1024. KB MB GB are powers
/// of 1000. B is 1.
inline std::optional<uint64_t> parseSize(const std::string &text) {
  char *end = nullptr;
  if (text.empty() || text[0] < '0' || text[0] > '9' || text.find_first_of("xX") != std::string::npos)
    return std::nullopt;
  double value = std::strtod(text.c_str(), &end);
  std::string unit = end;
  struct Unit {
    const char *name;
    double bytes;
  };
  constexpr Unit units[] = {
      {"", 1},        {"B", 1},         {"K", 1024},       {"KiB", 1024},          {"k", 1024},
      {"M", 1048576}, {"MiB", 1048576}, {"G", 1073741824}, {"GiB", 1073741824},    {"KB", 1e3},
      {"kB", 1e3},    {"MB", 1e6},      {"GB", 1e9},       {"T", 1099511627776.0}, {"TiB", 1099511627776.0}};
  for (const Unit &known : units)
    if (unit == known.name && value * known.bytes < 9e18)
      return static_cast<uint64_t>(value * known.bytes);
  return std::nullopt;
}

} // namespace gc3::common
