// SPDX-License-Identifier: Apache-2.0
// Settings for an environment that the test chooses. Tests can't use setenv, because a process reads its environment
// only once.
#pragma once

#include "core/Settings.h"

#include <map>

namespace gc3::test {

/// Returns the settings of an environment with only these variables.
inline core::Settings settingsOf(const std::map<std::string, std::string> &variables) {
  std::vector<std::string> entries;
  for (const auto &[name, value] : variables)
    entries.push_back(name + "=" + value);
  std::vector<const char *> pointers;
  for (const std::string &entry : entries)
    pointers.push_back(entry.c_str());
  return core::Settings::read(pointers);
}

} // namespace gc3::test
