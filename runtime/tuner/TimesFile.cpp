// SPDX-License-Identifier: Apache-2.0
#include "tuner/TimesFile.h"

#include "tuner/LogLine.h"
#include "tuner/Tuner.h"

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <unistd.h>

namespace gc3::tuner {

namespace {

std::string tablePath(const std::string &folder, uint64_t communicator) {
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "/%016" PRIx64 ".table", communicator);
  return folder + name.data();
}

/// Returns false if the file could not be written as a whole.
bool writeWhole(const std::string &path, const std::string &text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return !file.fail();
}

} // namespace

TimesFile::TimesFile(std::string to, const std::string &table, uint64_t communicator, const Shape &shape,
                     abi::Logger log)
    : folder(std::move(to)), path(tablePath(folder, communicator)), isFirst(shape.rank == 0), logger(log),
      measured(readChoices(table, shape.ranks, shape.nodes, nullptr), shape.ranks, shape.nodes) {
  if (folder.empty())
    logLine(logger, abi::LogInfo, "no times are stored, because GC3_TUNER_TIMES is not set");
  else if (access(folder.c_str(), W_OK | X_OK) != 0)
    logLine(logger, abi::LogWarn,
            "no times are stored, because the folder GC3_TUNER_TIMES '" + folder +
                "' can't be written: " + std::strerror(errno));
  else
    isWritable = true;
}

void TimesFile::write() const {
  const std::vector<Row> rows = measured.rows();
  if (!isFirst || rows.empty())
    return;
  const std::string part = path + ".part";
  if (!writeWhole(part, printTable(rows)) || std::rename(part.c_str(), path.c_str()) != 0) {
    const std::string problem = std::strerror(errno);
    std::remove(part.c_str());
    logLine(logger, abi::LogWarn, "can't write '" + path + "': " + problem);
    return;
  }
  logLine(logger, abi::LogInfo, "the times of " + std::to_string(rows.size()) + " arms are in " + path);
}

} // namespace gc3::tuner
