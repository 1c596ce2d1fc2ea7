// SPDX-License-Identifier: Apache-2.0
// A file in Chrome's trace format, which chrome://tracing and Perfetto open. All communicators of a process that name
// the same file share it. Each communicator adds its events when it is destroyed, or when the process ends. The file is
// valid JSON after each addition.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace gc3::trace {

/// Returns nanoseconds of a clock that all threads share.
uint64_t now();

/// Returns the text with each `mark` replaced by `by`. `by` must not contain `mark`.
std::string replaced(std::string text, std::string_view mark, const std::string &by);

/// An object that holds events that are not in the file yet.
class Source {
public:
  Source() = default;
  Source(const Source &) = delete;
  Source &operator=(const Source &) = delete;
  virtual ~Source() = default;
  /// Writes these events. Called when the process ends, while other threads may still be in calls.
  virtual void write() = 0;
};

class TraceFile {
public:
  /// The process numbers in a file, and the origin of its times.
  struct Numbering {
    uint32_t first = 0; ///< first process number
    /// Distance between the first numbers of two consecutive groups of communicators. If it is 0, the distance is the
    /// number of ranks of the first group.
    uint32_t step = 0;
    uint64_t origin = 0; ///< the value of now() that is time 0 in the file; 0: when the file is opened
  };
  /// Returns this process's file of that name. In the name, "%p" is replaced by the process id. "%r" is replaced by 0,
  /// because all ranks of the process share the file. The first request for a file empties it and determines its
  /// numbering. The file stays open. Returns null if the file cannot be written, and logs this once.
  static TraceFile *named(const std::string &name, const Numbering &numbering);
  static TraceFile *named(const std::string &name) { return named(name, {}); }
  TraceFile(const TraceFile &) = delete;
  TraceFile &operator=(const TraceFile &) = delete;
  ~TraceFile();

  const std::string &path() const { return name; }
  /// Returns whether events could not be written.
  bool hasFailed();
  /// Returns the value of now() that is time 0 in the file.
  uint64_t origin() const { return opened; }

  /// Process numbers of the trace for one group of communicators: one number for each rank.
  struct Processes {
    uint32_t first; ///< the first of the group's consecutive numbers
    uint32_t group; ///< number of the group, from 0
  };
  Processes allocateProcesses(uint32_t count);

  /// Adds events: JSON objects separated by commas. If the file cannot be written, logs this once, and keeps the
  /// earlier events.
  void append(std::string_view events);

  /// Register and deregister a source, whose write() is called when the process ends. After remove() has returned, the
  /// source is not called.
  void add(Source &source);
  void remove(const Source &source);

private:
  TraceFile(std::string path, const Numbering &numbering);
  bool open();
  bool writeAt(std::string_view text, off_t at) const;
  void markFailed();
  static void writeRemaining();

  const std::string name;
  const uint64_t opened;
  const uint32_t step;
  const pid_t owner;
  std::mutex sourcesMutex; ///< locked before `mutex`
  std::vector<Source *> sources;
  std::mutex mutex; ///< guards the following members
  int descriptor = -1;
  off_t end = 0; ///< offset at which the events in the file end
  bool isEmpty = true, failed = false;
  Processes next;
};

} // namespace gc3::trace
