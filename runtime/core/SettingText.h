// SPDX-License-Identifier: Apache-2.0
// Settings as text: log lines, warnings, and the output of `gc3-run --settings`.
#pragma once

#include "core/Settings.h"

namespace gc3::core {

/// Returns one line for each setting that is set, with its value and origin, then one line with the defaults of the
/// others.
std::vector<std::string> settingLines(const Settings &settings);

/// Returns one line for each of NCCL's settings whose values in `before` and `after` differ.
std::vector<std::string> changedLines(const Settings &before, const Settings &after);

/// Returns a warning that names the unknown variable, and the setting that nearestSetting() finds.
std::string unknownWarning(std::string_view name);

/// Returns the setting whose name is nearest to `name` by edit distance, ignoring case. Returns nullptr if the distance
/// exceeds a third of the length of `name` (without GC3_) plus 1.
const SettingInfo *nearestSetting(std::string_view name);

/// Returns the number of insertions, deletions and replacements that turn `from` into `to`. O(|from| |to|).
size_t editDistance(std::string_view from, std::string_view to);

/// Returns all settings with values, origins and the other fields of their rows, as `gc3-run --settings` prints them.
/// scripts/settings.py reads this text.
std::string settingsTable(const Settings &settings);

} // namespace gc3::core
