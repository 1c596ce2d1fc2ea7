// SPDX-License-Identifier: Apache-2.0
// The same rows as JSON: one object with what was run and an array of rows.
#include "Row.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace gc3::run {

namespace {

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (code < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", code);
      out += escape;
    } else
      out += c;
  }
  return out + "\"";
}

void writeMeasurement(std::FILE *file, const char *name, const Measurement &measurement) {
  std::fprintf(file, ", \"%s\": ", name);
  if (!measurement.measured) {
    std::fprintf(file, "null");
    return;
  }
  std::fprintf(file, "{\"time_us\": %.3f, \"algbw\": %.6f, \"busbw\": %.6f, \"wrong\": ", measurement.microseconds,
               measurement.algbw, measurement.busbw);
  if (measurement.checked)
    std::fprintf(file, "%" PRIu64 "}", measurement.wrong);
  else
    std::fprintf(file, "null}");
}

void writeRows(std::FILE *file, const Options &options, const Summary &summary) {
  std::fprintf(file, "{\n  \"tool\": \"gc3-run %d.%d.%d\",\n  \"bundle\": %s,\n  \"backend\": \"host\",\n", GC3_MAJOR,
               GC3_MINOR, GC3_PATCH, quoted(options.bundle).c_str());
  std::fprintf(file, "  \"order\": \"%s\",\n  \"seed\": %" PRIu64 ",\n  \"check\": %s,\n  \"rows\": [",
               options.host.order == gc3OrderAdversarial ? "adversarial" : "fair", options.host.seed,
               options.check ? "true" : "false");
  const char *separator = "\n    ";
  for (const Row &row : summary.rows) {
    std::fprintf(
        file, "%s{\"collective\": %s, \"program\": %s, \"ranks\": %d, \"bytes\": %" PRIu64 ", \"count\": %" PRIu64,
        separator, quoted(row.collective).c_str(), quoted(row.program).c_str(), row.ranks, row.bytes, row.count);
    std::fprintf(file, ", \"type\": \"%s\", \"redop\": \"%s\", \"root\": %d", row.type, row.op, row.root);
    writeMeasurement(file, "out_of_place", row.placement[0]);
    writeMeasurement(file, "in_place", row.placement[1]);
    std::fprintf(file, "}");
    separator = ",\n    ";
  }
  std::fprintf(file, "\n  ],\n  \"wrong\": %" PRIu64 ",\n  \"average_busbw\": %.6f\n}\n", summary.wrong,
               summary.averageBusBandwidth());
}

} // namespace

std::string writeJson(const std::string &path, const Options &options, const Summary &summary) {
  std::string temporary = path + ".tmp" + std::to_string(getpid());
  std::FILE *file = std::fopen(temporary.c_str(), "w");
  if (!file)
    return "can't write '" + temporary + "': " + std::strerror(errno);
  writeRows(file, options, summary);
  bool good = std::ferror(file) == 0;
  good = std::fclose(file) == 0 && good;
  if (good && std::rename(temporary.c_str(), path.c_str()) == 0)
    return {};
  std::string problem = "can't write '" + path + "': " + std::strerror(errno);
  std::remove(temporary.c_str());
  return problem;
}

} // namespace gc3::run
