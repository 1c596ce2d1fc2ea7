// SPDX-License-Identifier: Apache-2.0
// Writes texts, and replaces files. ReadTuneText.cpp reads texts.
#include "select/TuneFile.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <numeric>
#include <tuple>
#include <unistd.h>

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

std::string number(float value) {
  char text[32];
  return {text, std::to_chars(std::begin(text), std::end(text), value).ptr};
}

/// Returns the text as a part of a line.
std::string printable(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return line;
}

} // namespace

std::string digestText(uint64_t digest) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(digest));
  return text;
}

std::string writeTuneText(const TuneFile &file) {
  std::vector<uint32_t> order(file.rows.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](uint32_t index) {
    const TuneRow &row = file.rows[index];
    return std::tie(file.contexts[row.context], row.bucket, row.arm);
  };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  std::string text = "gc3-learned 1\nmachine " + printable(file.machine) + "\nbundle " + digestText(file.bundle) +
                     "\n# bucket arm calls median_us spread last_use\n";
  uint32_t context = UINT32_MAX;
  for (const uint32_t index : order) {
    const TuneRow &row = file.rows[index];
    if (row.context != context) {
      context = row.context;
      const TuneContext &own = file.contexts[context];
      text += "context ranks=" + std::to_string(own.ranks) + " hosts=" + std::to_string(own.hosts) +
              " type=" + own.type + " inplace=" + (own.inPlace ? "1 " : "0 ") + own.collective + "\n";
    }
    text += std::to_string(row.bucket) + " " + row.arm + " " + std::to_string(row.calls) + " " +
            number(row.microseconds) + " " + number(row.spread) + " " + std::to_string(row.lastUse) + "\n";
  }
  return text;
}

std::string saveTuneFile(const std::string &path, const TuneFile &file) {
  const std::string text = writeTuneText(file);
  if (const TuneStatus status = readTuneText(text, path).outcome(); !status.ok())
    return "cannot save what could not be read again: " + status.message;
  std::error_code noTarget;
  const std::filesystem::path target = std::filesystem::canonical(path, noTarget);
  Replacement replacement(noTarget ? path : target.string());
  if (!replacement.create() || !replacement.write(text) || !replacement.commit())
    return "cannot write '" + path + "': " + std::strerror(errno);
  return {};
}

std::string reasonToIgnore(const TuneFile &file, std::string_view machine, uint64_t bundle) {
  if (file.machine != printable(machine))
    return "it is for the machine '" + file.machine + "', not '" + printable(machine) + "'";
  if (file.bundle != bundle)
    return "it is for the bundle " + digestText(file.bundle) + ", not " + digestText(bundle);
  return {};
}

} // namespace gc3::select
