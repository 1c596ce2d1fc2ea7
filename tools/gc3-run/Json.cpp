// SPDX-License-Identifier: Apache-2.0
// Writes the rows as JSON: one object with the options and an array of rows.
#include "Row.h"

#include "trace/Events.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace gc3::run {

namespace {

using trace::jsonString;

void writeMeasurement(std::FILE *file, const char *name, const Measurement &measurement, bool timesNccl) {
  std::fprintf(file, ", \"%s\": ", name);
  if (!measurement.measured) {
    std::fprintf(file, "null");
    return;
  }
  std::fprintf(file, "{\"time_us\": %.3f, \"algbw\": %.6f, \"busbw\": %.6f, \"wrong\": ", measurement.microseconds,
               measurement.algbw, measurement.busbw);
  if (measurement.checked)
    std::fprintf(file, "%" PRIu64, measurement.wrong);
  else
    std::fprintf(file, "null");
  if (timesNccl && measurement.ncclMicroseconds > 0)
    std::fprintf(file, ", \"nccl_us\": %.3f", measurement.ncclMicroseconds);
  else if (timesNccl)
    std::fprintf(file, ", \"nccl_us\": null");
  std::fprintf(file, "}");
}

void writeRows(std::FILE *file, const Options &options, const Summary &summary) {
  std::fprintf(file, "{\n  \"tool\": \"gc3-run %d.%d.%d\",\n  \"bundle\": %s,\n  \"backend\": \"%s\",\n", GC3_MAJOR,
               GC3_MINOR, GC3_PATCH, jsonString(options.bundle).c_str(), backendName(options.backend));
  if (options.processes > 1)
    std::fprintf(file, "  \"processes\": %" PRIu32 ",\n", options.processes);
  std::fprintf(file, "  \"order\": \"%s\",\n  \"seed\": %" PRIu64 ",\n  \"check\": %s,\n  \"rows\": [",
               options.host.order == gc3OrderAdversarial ? "adversarial" : "fair", options.host.seed,
               options.check ? "true" : "false");
  const char *separator = "\n    ";
  for (const Row &row : summary.rows) {
    std::fprintf(file,
                 "%s{\"collective\": %s, \"program\": %s, \"ranks\": %d, \"bytes\": %" PRIu64 ", \"count\": %" PRIu64,
                 separator, jsonString(row.collective).c_str(), jsonString(row.program).c_str(), row.ranks, row.bytes,
                 row.count);
    std::fprintf(file, ", \"type\": \"%s\", \"redop\": \"%s\", \"root\": %d", row.type, row.op, row.root);
    writeMeasurement(file, "out_of_place", row.placement[0], options.timesNccl);
    writeMeasurement(file, "in_place", row.placement[1], options.timesNccl);
    std::fprintf(file, "}");
    separator = ",\n    ";
  }
  std::fprintf(file, "\n  ],\n  \"wrong\": %" PRIu64 ",\n  \"average_busbw\": %.6f\n}\n", summary.wrong,
               summary.averageBusBandwidth());
}

/// The destination of the text.
struct Target {
  std::string final; ///< `written` is renamed to this path; if both are equal, the file is written directly
  std::string written;
  bool append = false; ///< true for standard streams, which can be files that other processes write, too
};

Target findTarget(const std::string &path) {
  std::error_code error;
  std::filesystem::file_status status = std::filesystem::status(path, error);
  if (path.starts_with("/dev/") || path.starts_with("/proc/"))
    return {path, path, true};
  bool regular = std::filesystem::is_regular_file(status);
  bool dangling = !std::filesystem::exists(status) && std::filesystem::is_symlink(path, error);
  if (dangling || (std::filesystem::exists(status) && !regular))
    return {path, path};
  std::string final = path;
  if (auto resolved = std::filesystem::canonical(path, error); regular && !error)
    final = resolved.string();
  return {final, final + ".tmp" + std::to_string(getpid())};
}

std::string cannotWrite(const std::string &path) {
  return "can't write '" + path + "': " + std::strerror(errno);
}

} // namespace

std::string checkWritable(const std::string &path) {
  Target target = findTarget(path);
  std::error_code error;
  if (std::filesystem::is_directory(target.final, error)) {
    errno = EISDIR;
    return cannotWrite(path);
  }
  if (access(target.final.c_str(), F_OK) == 0 && access(target.final.c_str(), W_OK) != 0)
    return cannotWrite(path);
  if (target.written == target.final)
    return {}; // not opened: opening a pipe can block, and its reader can notice
  int probe = open(target.written.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (probe < 0)
    return cannotWrite(path);
  close(probe);
  std::remove(target.written.c_str());
  return {};
}

std::string checkOutputs(const Options &options) {
  for (const std::string &path : {options.json == "-" ? std::string() : options.json, options.trace}) {
    std::error_code error;
    if (path.empty())
      continue;
    if (std::filesystem::equivalent(path, options.bundle, error) && !error)
      return "'" + path + "' is the bundle; write to another file";
    if (std::string problem = checkWritable(path); !problem.empty())
      return problem;
  }
  std::error_code error;
  const auto json = std::filesystem::weakly_canonical(options.json, error);
  const auto trace = std::filesystem::weakly_canonical(options.trace, error);
  if (!error && !options.json.empty() && json == trace && !findTarget(options.json).append)
    return "--json and --trace both name '" + options.json + "'; write to two files";
  return {};
}

std::string writeJson(const std::string &path, const Options &options, const Summary &summary) {
  if (path == "-") { // the caller flushes stdout, and reports errors
    writeRows(stdout, options, summary);
    return {};
  }
  Target target = findTarget(path);
  std::FILE *file = std::fopen(target.written.c_str(), target.append ? "a" : "w");
  if (!file)
    return cannotWrite(path);
  writeRows(file, options, summary);
  bool good = std::ferror(file) == 0;
  good = std::fclose(file) == 0 && good;
  bool direct = target.written == target.final;
  if (good && (direct || std::rename(target.written.c_str(), target.final.c_str()) == 0))
    return {};
  std::string problem = cannotWrite(path);
  if (!direct)
    std::remove(target.written.c_str());
  return problem;
}

} // namespace gc3::run
