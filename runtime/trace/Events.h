// SPDX-License-Identifier: Apache-2.0
// Events of Chrome's trace format as text: one JSON object on each line.
#pragma once

#include "trace/TraceFile.h"

namespace gc3::trace {

/// Returns the text as a JSON string.
std::string jsonString(std::string_view text);

/// The members of an event's "args", separated by commas.
class Arguments {
public:
  Arguments &add(std::string_view key, uint64_t number) { return addJson(key, std::to_string(number)); }
  Arguments &add(std::string_view key, std::string_view value) { return addJson(key, jsonString(value)); }
  const std::string &text() const { return members; }

private:
  Arguments &addJson(std::string_view key, const std::string &value);

  std::string members;
};

/// A row of the trace: a process and a thread.
struct Row {
  uint32_t process, thread;
};
/// A time span, in nanoseconds of now().
struct Span {
  uint64_t begin, end;
};

/// One end of an arrow between two rows: the tail, or the head with the point. An arrow belongs to the span of its row
/// at the time of its end. Both ends have one `id`, which no other arrow in a merged trace has. Viewers draw nothing
/// for an end without the other one.
struct ArrowEnd {
  Row row;
  uint64_t id;
  bool isHead;
};
/// Returns the end as an event. `time` is in microseconds.
std::string arrowText(const ArrowEnd &end, std::string_view time);

/// Collects events and appends them to the file in large parts. The destructor appends the last part.
class Events {
public:
  explicit Events(TraceFile &file) : file(file) {}
  ~Events() { file.append(text); }
  Events(const Events &) = delete;
  Events &operator=(const Events &) = delete;

  /// Set the names of rows and their positions among other rows.
  void nameProcess(uint32_t process, std::string_view name);
  void nameThread(const Row &row, std::string_view name, uint32_t position);

  /// Adds an event with a duration. `arguments` are members of a JSON object.
  void addSpan(const Row &row, const Span &span, std::string_view name, std::string_view arguments);
  /// Adds an event without a duration, for a whole process.
  void addNote(const Row &row, uint64_t when, std::string_view name, std::string_view arguments);
  void addArrow(const ArrowEnd &end, uint64_t when);

private:
  void separate();
  void begin(char phase, const Row &row, std::string_view name);
  void end(std::string_view arguments);
  void addTime(std::string_view key, uint64_t nanoseconds);

  TraceFile &file;
  std::string text;
};

} // namespace gc3::trace
