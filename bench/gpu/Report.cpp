// SPDX-License-Identifier: Apache-2.0
#include "Report.h"

#include "Replay.h"

#include <cerrno>
#include <cstring>

namespace bench {

namespace {

/// Quotes text for JSON. The texts are names and sizes from gc3, and CUDA's description of the GPU.
std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + '"';
}

std::string shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%.2f" : value < 1000 ? "%.1f" : "%.0f", value);
  return text;
}

} // namespace

Report::Report(const std::string &path) {
  if (path.empty())
    return;
  json = std::fopen(path.c_str(), "a");
  if (!json)
    fail("cannot write '" + path + "': " + std::strerror(errno));
}

Report::~Report() {
  if (json && std::fclose(json) != 0)
    std::fprintf(stderr, "gpu-bench: the JSON file is not whole: %s\n", std::strerror(errno));
}

void Report::object(const std::vector<std::pair<std::string, std::string>> &members) {
  if (!json)
    return;
  std::fputs("{", json);
  for (size_t i = 0; i < members.size(); ++i)
    std::fprintf(json, "%s%s: %s", i == 0 ? "" : ", ", quoted(members[i].first).c_str(), members[i].second.c_str());
  if (std::fputs("}\n", json) < 0 || std::fflush(json) != 0)
    fail(std::string("writing the JSON file: ") + std::strerror(errno));
}

void Report::table(const std::string &name, const std::string &title, const std::vector<std::string> &ofColumns) {
  tableName = name;
  columns = ofColumns;
  std::printf("\n%s\n\n|", title.c_str());
  for (const std::string &column : columns)
    std::printf(" %s |", column.c_str());
  std::printf("\n|");
  for (size_t i = 0; i < columns.size(); ++i)
    std::printf(i == 0 ? " --- |" : " --: |");
  std::printf("\n");
}

void Report::row(const std::string &what, const std::vector<double> &values) {
  std::vector<std::pair<std::string, std::string>> members = {{"table", quoted(tableName)}, {columns[0], quoted(what)}};
  std::printf("| %s |", what.c_str());
  for (size_t i = 0; i < values.size(); ++i) {
    std::printf(" %s |", shown(values[i]).c_str());
    members.emplace_back(columns[i + 1], std::to_string(values[i]));
  }
  std::printf("\n");
  std::fflush(stdout);
  object(members);
}

void Report::failure(const std::string &section, const std::string &why) {
  std::printf("\nFAILED: %s: %s\n", section.c_str(), why.c_str());
  std::fflush(stdout);
  object({{"failed", quoted(section)}, {"why", quoted(why)}});
}

void Report::note(const std::string &text) {
  std::printf("\n%s\n", text.c_str());
  std::fflush(stdout);
  object({{"note", quoted(text)}});
}

std::string inUnits(size_t bytes) {
  const char *const units[] = {"B", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  for (; unit < 3 && bytes >= 1024 && bytes % 1024 == 0; bytes /= 1024)
    ++unit;
  return std::to_string(bytes) + " " + units[unit];
}

} // namespace bench
