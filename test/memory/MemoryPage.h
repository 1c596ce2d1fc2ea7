// SPDX-License-Identifier: Apache-2.0
// A page of the documentation that ends with the tables of the checker.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace gc3::memory {

inline std::string readPage(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the page with `tables` after its marker.
inline std::string pageWith(const std::string &page, const std::string &tables) {
  const std::string marker = "<!-- tables -->\n";
  const size_t at = page.find(marker);
  return (at == std::string::npos ? page + marker : page.substr(0, at + marker.size())) + "\n" + tables;
}

} // namespace gc3::memory
