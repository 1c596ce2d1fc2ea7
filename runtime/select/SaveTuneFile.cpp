// SPDX-License-Identifier: Apache-2.0
// Replaces files of learned times. A lock next to a file orders the processes and communicators that add to it.
#include "select/TuneFile.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace gc3::select {

namespace {

/// A temporary file next to the file that it replaces. It is removed unless it is renamed.
class Replacement {
public:
  explicit Replacement(std::string file) : target(std::move(file)) {}
  Replacement(const Replacement &) = delete;
  Replacement &operator=(const Replacement &) = delete;
  ~Replacement() {
    if (descriptor >= 0)
      close(descriptor);
    if (!temporary.empty())
      unlink(temporary.c_str());
  }

  /// Creates the temporary file. Returns false and sets errno after an error, like the other functions.
  bool create() {
    for (unsigned number = 0;; ++number) {
      std::string name = target + "." + std::to_string(getpid()) + "." + std::to_string(number) + ".tmp";
      descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor >= 0)
        temporary = std::move(name);
      if (descriptor >= 0 || errno != EEXIST)
        return descriptor >= 0;
    }
  }

  bool write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
      if (written < 0 && errno != EINTR)
        return false;
      bytes.remove_prefix(static_cast<size_t>(std::max<ssize_t>(written, 0)));
    }
    return fsync(descriptor) == 0;
  }

  bool commit() {
    const bool isClosed = close(std::exchange(descriptor, -1)) == 0;
    if (!isClosed || rename(temporary.c_str(), target.c_str()) != 0)
      return false;
    temporary.clear();
    return true;
  }

private:
  std::string target, temporary;
  int descriptor = -1;
};

/// Locks a file until the end of the object's life. Gives up after five seconds, or if the file system has no locks.
/// Then the replacement of a file still is whole, but can lose what another process adds at the same time.
class FileLock {
public:
  explicit FileLock(const std::string &path) : descriptor(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::seconds(5);
    while (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK && Clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~FileLock() {
    if (descriptor >= 0)
      close(descriptor);
  }
  FileLock(const FileLock &) = delete;
  FileLock &operator=(const FileLock &) = delete;

private:
  const int descriptor;
};

/// Returns the path of the file itself if `path` is a symbolic link.
std::string targetOf(const std::string &path) {
  std::error_code isNone;
  const std::filesystem::path target = std::filesystem::canonical(path, isNone);
  return isNone ? path : target.string();
}

} // namespace

std::string saveTuneFile(const std::string &path, const TuneFile &file) {
  const std::string text = writeTuneText(file);
  if (const TuneStatus status = readTuneText(text, path).outcome(); !status.ok())
    return "cannot save what could not be read again: " + status.message;
  Replacement replacement(targetOf(path));
  if (!replacement.create() || !replacement.write(text) || !replacement.commit())
    return "cannot write '" + path + "': " + std::strerror(errno);
  return {};
}

std::string addToTuneFile(const std::string &path, const TuneFile &learned) {
  const FileLock lock(targetOf(path) + ".lock");
  TuneFile merged = learned;
  TuneResult old = loadTuneFile(path);
  if (!old.ok() && old.outcome().error != TuneError::Missing)
    return "cannot replace what is no file of learned times: " + old.outcome().message;
  if (old.ok() && reasonToIgnore(*old, learned.machine, learned.bundle).empty()) {
    merged = std::move(*old);
    mergeTuneFile(merged, learned);
  }
  return saveTuneFile(path, merged);
}

} // namespace gc3::select
