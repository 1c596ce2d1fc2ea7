// SPDX-License-Identifier: Apache-2.0
// Events of Chrome's trace format as text: one JSON object on each line.
#pragma once

#include "trace/TraceFile.h"

namespace gc3::trace {

/// The text as a JSON string.
std::string jsonString(std::string_view text);

/// The members of an event's "args", with commas between.
class Arguments {
public:
  Arguments &add(std::string_view key, uint64_t number) { return addJson(key, std::to_string(number)); }
  Arguments &add(std::string_view key, std::string_view value) { return addJson(key, jsonString(value)); }
  const std::string &text() const { return members; }

private:
  Arguments &addJson(std::string_view key, const std::string &value);

  std::string members;
};

/// A process and a thread of the trace.
struct Row {
  uint32_t process, thread;
};
/// Nanoseconds of now().
struct Span {
  uint64_t begin, end;
};

/// Collects events and hands them to the file in large pieces, the last one at the end.
class Events {
public:
  explicit Events(TraceFile &file) : file(file) {}
  ~Events() { file.append(text); }
  Events(const Events &) = delete;
  Events &operator=(const Events &) = delete;

  /// What rows are called, and where they stand among others.
  void nameProcess(uint32_t process, std::string_view name);
  void nameThread(const Row &row, std::string_view name, uint32_t position);

  /// Something that took time; `arguments` are members of an object.
  void addSpan(const Row &row, const Span &span, std::string_view name, std::string_view arguments);
  /// Something that concerns a whole process.
  void addNote(const Row &row, uint64_t when, std::string_view name, std::string_view arguments);

private:
  void begin(char phase, const Row &row, std::string_view name);
  void end(std::string_view arguments);
  void addTime(std::string_view key, uint64_t nanoseconds);

  TraceFile &file;
  std::string text;
};

} // namespace gc3::trace
