// SPDX-License-Identifier: Apache-2.0
// Chooses the reader of a file by the first character of its text.
#include "gc3/Topology/Import.h"
#include "gc3/Topology/Json.h"

namespace gc3::topology {

std::optional<Topology> parseFile(const std::string &text, const std::string &name, std::string &error) {
  constexpr std::string_view byteOrderMark = "\xef\xbb\xbf";
  if (text.compare(0, byteOrderMark.size(), byteOrderMark) == 0)
    return parseFile(text.substr(byteOrderMark.size()), name, error);
  const size_t first = text.find_first_not_of(" \t\r\n");
  const char begin = first == std::string::npos ? '\0' : text[first];
  std::optional<Topology> topology = begin == '{'   ? parseJson(text, error)
                                     : begin == '<' ? parseNcclXml(text, error)
                                                    : parseNvidiaSmi(text, error);
  if (topology && topology->name.empty())
    topology->name = name;
  return topology;
}

} // namespace gc3::topology
