// SPDX-License-Identifier: Apache-2.0
#include "OptionText.h"
#include <algorithm>

namespace gc3::sim {

std::string addDefine(const std::string &option, const std::string &text, Defines &defines) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    return option + " must be name=value, not '" + text + "'";
  const std::string name = text.substr(0, equals);
  if (std::any_of(defines.begin(), defines.end(), [&](const auto &other) { return other.first == name; }))
    return option + " sets '" + name + "' twice";
  defines.push_back({name, text.substr(equals + 1)});
  return {};
}

Defines ownDefines(const Defines &defines, const std::vector<std::string> &params, std::set<std::string> &used) {
  Defines own;
  for (const auto &define : defines)
    if (std::find(params.begin(), params.end(), define.first) != params.end())
      own.push_back(define), used.insert(define.first);
  return own;
}

std::string findUnused(const Defines &defines, const std::set<std::string> &used) {
  for (const auto &[name, value] : defines)
    if (used.count(name) == 0)
      return "'-D " + name + "=" + value + "': no input has a param '" + name + "'";
  return {};
}

std::string checkSizes(uint64_t least, uint64_t most) {
  if (least <= most)
    return {};
  return "there are no sizes from " + std::to_string(least) + " bytes (-b) to " + std::to_string(most) + " bytes (-e)";
}

std::optional<core::ElementType> typeNamed(const std::string &name) {
  for (unsigned i = 0; i < core::elementTypeCount; ++i)
    if (name == core::elementTypeName(static_cast<core::ElementType>(i)))
      return static_cast<core::ElementType>(i);
  return {};
}

} // namespace gc3::sim
