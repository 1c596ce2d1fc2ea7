// SPDX-License-Identifier: Apache-2.0
// Writes tables in Markdown, and the same numbers as JSON: one line with an object for each row. Each row is written
// completely at once, so that all rows in the file are complete however the program ends.
#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace bench {

class Report {
public:
  /// Appends the JSON to the file `path`; empty: writes no JSON. Fails at once if the file cannot be written.
  explicit Report(const std::string &path);
  ~Report();
  Report(const Report &) = delete;
  Report &operator=(const Report &) = delete;

  /// Begins a table. Rows have one value for each column after the first; `name` identifies the table in the JSON.
  void table(const std::string &name, const std::string &title, const std::vector<std::string> &columns);
  /// `what` is the text in the row's first column, such as a size or a program.
  void row(const std::string &what, const std::vector<double> &values);
  /// Writes a line of text, and a note in the JSON.
  void note(const std::string &text);
  /// Reports that a section failed, so that its remaining rows are missing.
  void failure(const std::string &section, const std::string &why);

private:
  void object(const std::vector<std::pair<std::string, std::string>> &members);

  std::FILE *json = nullptr;
  std::string tableName;
  std::vector<std::string> columns;
};

/// Returns text such as `64 KiB`.
std::string inUnits(size_t bytes);

} // namespace bench
