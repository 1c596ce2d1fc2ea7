// SPDX-License-Identifier: Apache-2.0
// Tables in Markdown, and the same numbers as JSON: an object on a line of its own for each row, written at once, so
// that what is there is whole whatever ends the program.
#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace bench {

class Report {
public:
  /// `path`: the file that the JSON is added to, or empty. Fails at once if it can't be written.
  explicit Report(const std::string &path);
  ~Report();
  Report(const Report &) = delete;
  Report &operator=(const Report &) = delete;

  /// Begins a table. Rows have one value for each column; `name` is the table's in the JSON.
  void table(const std::string &name, const std::string &title, const std::vector<std::string> &columns);
  /// `what`: the row's first column, say its size or program.
  void row(const std::string &what, const std::vector<double> &values);
  /// A line of text, and a note in the JSON.
  void note(const std::string &text);
  /// In place of the rows that a section does not have any more.
  void failure(const std::string &section, const std::string &why);

private:
  void object(const std::vector<std::pair<std::string, std::string>> &members);

  std::FILE *json = nullptr;
  std::string tableName;
  std::vector<std::string> columns;
};

/// `64 KiB`
std::string inUnits(size_t bytes);

} // namespace bench
