// SPDX-License-Identifier: Apache-2.0
// A file in Chrome's trace format, which chrome://tracing and Perfetto open. All communicators of a process that name
// the same file share it: each adds its events when it is destroyed, or when the process ends. What is there is whole
// JSON after each of them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace gc3::trace {

/// Nanoseconds, by a clock that all threads share.
uint64_t now();

/// The text with `by`, which has no mark in it, for each `mark`.
std::string replaced(std::string text, std::string_view mark, const std::string &by);

/// Whoever has events that are not in the file yet.
class Source {
public:
  Source() = default;
  Source(const Source &) = delete;
  Source &operator=(const Source &) = delete;
  virtual ~Source() = default;
  /// The process ends. Other threads may be in calls.
  virtual void write() = 0;
};

class TraceFile {
public:
  /// How a file numbers processes, and what its times count from.
  struct Numbering {
    uint32_t first = 0;  ///< process
    uint32_t step = 0;   ///< from one group of communicators to the next; 0: as many as it has ranks
    uint64_t origin = 0; ///< 0: when the file is opened
  };
  /// The process's file of that name, in which "%p" stands for the process's number and "%r", where ranks share the
  /// file, for 0. It is emptied when it is first asked for, and stays open; who asks first says how it numbers. Null
  /// where it can't be written, which is told once.
  static TraceFile *named(const std::string &name, const Numbering &numbering);
  static TraceFile *named(const std::string &name) { return named(name, {}); }
  TraceFile(const TraceFile &) = delete;
  TraceFile &operator=(const TraceFile &) = delete;
  ~TraceFile();

  const std::string &path() const { return name; }
  /// What times in the file count from.
  uint64_t origin() const { return opened; }

  /// Processes of the trace, which are ranks here, for one group of communicators.
  struct Processes {
    uint32_t first; ///< the others follow
    uint32_t group; ///< from 0
  };
  Processes take(uint32_t count);

  /// Adds events: JSON objects with commas between. That the file can't be written is told once; what was there stays.
  void append(std::string_view events);

  /// Has a source write when the process ends. From remove() on, nobody calls it any more.
  void add(Source &source);
  void remove(const Source &source);

private:
  TraceFile(std::string path, const Numbering &numbering);
  bool open();
  bool put(std::string_view text, off_t at) const;
  void fail();
  static void writeRest();

  const std::string name;
  const uint64_t opened;
  const uint32_t step;
  const pid_t owner;
  std::mutex sourcesMutex; ///< taken before `mutex`
  std::vector<Source *> sources;
  std::mutex mutex; ///< guards what follows
  int descriptor = -1;
  off_t end = 0; ///< of the events
  bool isEmpty = true, failed = false;
  Processes next;
};

} // namespace gc3::trace
