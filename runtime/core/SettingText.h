// SPDX-License-Identifier: Apache-2.0
// Settings in words: log lines, warnings, and what `gc3-run --settings` prints.
#pragma once

#include "core/Settings.h"

namespace gc3::core {

/// One line for each setting that is set, with its value and origin, then one line with the defaults of the others.
std::vector<std::string> settingLines(const Settings &settings);

/// Returns one line for each of NCCL's settings that NCCL or the application has changed since `before`.
std::vector<std::string> changedLines(const Settings &before, const Settings &after);

/// Names the unknown variable and the nearest setting, if one is near.
std::string unknownWarning(std::string_view name);

/// The setting whose name is the nearest to `name` by edit distance, ignoring case; nullptr if none is near.
const SettingInfo *nearestSetting(std::string_view name);

/// Insertions, deletions and replacements that turn `from` into `to`. O(|from| |to|).
size_t editDistance(std::string_view from, std::string_view to);

/// All settings with value, origin and the rest of their rows: what `gc3-run --settings` prints. scripts/settings.py
/// reads it.
std::string settingsTable(const Settings &settings);

} // namespace gc3::core
