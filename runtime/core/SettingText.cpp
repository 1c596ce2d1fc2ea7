// SPDX-License-Identifier: Apache-2.0
#include "core/SettingText.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace gc3::core {

namespace {

constexpr std::string_view prefix = "GC3_";

std::string_view describe(Agreement agreement) {
  switch (agreement) {
  case Agreement::None: return "no";
  case Agreement::Value: return "yes";
  case Agreement::Contents: return "the contents of the files";
  case Agreement::IsNonzero: return "whether there is a limit";
  case Agreement::Unchecked: return "yes, but ranks do not compare it";
  }
  __builtin_unreachable();
}

std::string_view describe(Reader reader) {
  switch (reader) {
  case Reader::Front: return "libgc3nccl.so";
  case Reader::Tuner: return "libgc3tuner.so";
  case Reader::Python: return "the Python package gc3";
  case Reader::Libraries: return "libgc3.so, libgc3nccl.so";
  case Reader::All: return "libgc3.so, libgc3nccl.so, gc3-run";
  }
  __builtin_unreachable();
}

std::string assignment(const SettingInfo &info, const Settings &settings) {
  return "setting " + std::string(info.name) + "=" + settings.shown(info.setting);
}

char upper(char c) {
  return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
}

} // namespace

std::vector<std::string> settingLines(const Settings &settings) {
  std::vector<std::string> lines;
  std::string others;
  for (const SettingInfo &info : settingTable)
    if (settings.isSet(info.setting))
      lines.push_back(assignment(info, settings) + " (environment)");
    else
      others += (others.empty() ? "" : ", ") + std::string(info.name) + " (" + std::string(info.byDefault) + ")";
  if (!others.empty())
    lines.push_back("settings by default: " + others);
  return lines;
}

std::vector<std::string> changedLines(const Settings &before, const Settings &after) {
  std::vector<std::string> lines;
  for (const SettingInfo &info : settingTable)
    if (isOfNccl(info.setting) && before.text(info.setting) != after.text(info.setting))
      lines.push_back(assignment(info, after) + " (changed by NCCL or the application)");
  return lines;
}

size_t editDistance(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1); // distances of the first i characters of `from` to all prefixes of `to`
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < from.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < to.size(); ++j) {
      const size_t replaced = diagonal + (from[i] != to[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

const SettingInfo *nearestSetting(std::string_view name) {
  std::string own(name);
  std::transform(own.begin(), own.end(), own.begin(), upper);
  const size_t length = own.rfind(prefix, 0) == 0 ? own.size() - prefix.size() : own.size();
  size_t limit = length / 3 + 1;
  const SettingInfo *nearest = nullptr;
  for (const SettingInfo &info : settingTable)
    if (const size_t distance = editDistance(own, info.name); distance <= limit && (!nearest || distance < limit)) {
      limit = distance;
      nearest = &info;
    }
  return nearest;
}

std::string unknownWarning(std::string_view name) {
  const SettingInfo *nearest = nearestSetting(name);
  return "unknown variable " + std::string(name) +
         (nearest ? "; did you mean " + std::string(nearest->name) + "?"
                  : "; 'gc3-run --settings' lists the variables");
}

std::string settingsTable(const Settings &settings) {
  std::string text;
  const auto add = [&](std::string_view key, std::string_view value) {
    text += "  ";
    text += key;
    text.append(key.size() < 11 ? 11 - key.size() : 1, ' ');
    (text += value) += '\n';
  };
  for (const SettingInfo &info : settingTable) {
    const bool isSet = settings.isSet(info.setting);
    (text += info.name) += '\n';
    add("value", isSet ? settings.shown(info.setting) : std::string(info.byDefault));
    add("origin", isSet ? "environment" : "default");
    add("meaning", info.meaning);
    add("range", info.range);
    add("default", info.byDefault);
    add("identical", describe(info.agreement));
    add("read by", describe(info.reader));
    if (!info.page.empty())
      add("more", info.page);
  }
  return text;
}

} // namespace gc3::core
