// SPDX-License-Identifier: Apache-2.0
// Each write overwrites the closing brackets of the previous one, and adds them again after its events.
#include "trace/TraceFile.h"

#include "core/Log.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <unistd.h>

namespace gc3::trace {

namespace {

constexpr std::string_view opening = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
constexpr std::string_view closing = "\n]}\n";

/// All trace files by name. A name is mapped to null if its file cannot be written.
struct Files {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<TraceFile>> byName;
};

/// Never destroyed, because a program may destroy its communicators after all its static objects.
Files &files() {
  static auto &all = *new Files;
  return all;
}

} // namespace

std::string replaced(std::string text, std::string_view pattern, const std::string &by) {
  for (size_t at; (at = text.find(pattern)) != std::string::npos;)
    text.replace(at, pattern.size(), by);
  return text;
}

uint64_t now() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

TraceFile *TraceFile::named(const std::string &name, const Numbering &numbering) {
  Files &all = files();
  std::lock_guard lock(all.mutex);
  static const int registered = std::atexit(writeRemaining);
  static_cast<void>(registered);
  const std::string path = replaced(replaced(name, "%p", std::to_string(getpid())), "%r", "0");
  const auto [known, isNew] = all.byName.try_emplace(path);
  if (isNew) {
    std::unique_ptr<TraceFile> file(new TraceFile(path, numbering));
    if (file->open())
      known->second = std::move(file);
  }
  return known->second.get();
}

/// Writes the events that sources still hold.
void TraceFile::writeRemaining() {
  Files &all = files();
  std::lock_guard lock(all.mutex);
  for (const auto &[name, file] : all.byName)
    if (file) {
      std::lock_guard sourcesLock(file->sourcesMutex);
      for (Source *source : file->sources)
        source->write();
    }
}

TraceFile::TraceFile(std::string path, const Numbering &numbering)
    : name(std::move(path)), opened(numbering.origin != 0 ? numbering.origin : now()), step(numbering.step),
      owner(getpid()), next{numbering.first, 0} {}

TraceFile::~TraceFile() {
  if (descriptor >= 0)
    close(descriptor);
}

bool TraceFile::open() {
  descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor >= 0 && writeAt(std::string(opening) + std::string(closing), 0)) {
    end = static_cast<off_t>(opening.size());
    return true;
  }
  markFailed();
  return false;
}

bool TraceFile::writeAt(std::string_view text, off_t at) const {
  while (!text.empty()) {
    const ssize_t written = pwrite(descriptor, text.data(), text.size(), at);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    text.remove_prefix(static_cast<size_t>(written));
    at += written;
  }
  return true;
}

void TraceFile::markFailed() {
  failed = true;
  core::log("can't write the trace '" + name + "': " + std::strerror(errno));
}

bool TraceFile::hasFailed() {
  std::lock_guard lock(mutex);
  return failed;
}

/// Does nothing in a child process after fork(). The child has copies of its parent's events, and must not write them
/// to its parent's file.
void TraceFile::append(std::string_view events) {
  std::lock_guard lock(mutex);
  if (events.empty() || failed || getpid() != owner)
    return;
  std::string text = isEmpty ? "\n" : ",\n";
  text.append(events).append(closing);
  if (!writeAt(text, end)) {
    markFailed();
    if (ftruncate(descriptor, end) == 0)
      writeAt(closing, end);
    return;
  }
  end += static_cast<off_t>(text.size() - closing.size());
  isEmpty = false;
}

TraceFile::Processes TraceFile::allocateProcesses(uint32_t count) {
  std::lock_guard lock(mutex);
  const Processes taken = next;
  next.first += step != 0 ? step : count;
  ++next.group;
  return taken;
}

void TraceFile::add(Source &source) {
  std::lock_guard lock(sourcesMutex);
  sources.push_back(&source);
}

void TraceFile::remove(const Source &source) {
  std::lock_guard lock(sourcesMutex);
  std::erase(sources, &source);
}

} // namespace gc3::trace
