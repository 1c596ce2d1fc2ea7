// SPDX-License-Identifier: Apache-2.0
// Reads what was learned. Each line is checked on its own, then against the lines before. O(lines log lines).
#include "select/TuneFile.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <tuple>

namespace gc3::select {

namespace {

constexpr size_t mostBytes = size_t{64} << 20;

bool isPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

/// Removes and returns the text before the first `mark`, or the whole text.
std::string_view takeUntil(std::string_view &text, char mark) {
  const size_t end = std::min(text.find(mark), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

/// Parses a number that is the whole text.
template <typename Number>
bool parse(std::string_view text, Number &value, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse(std::string_view text, float &value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

class TuneReader {
public:
  explicit TuneReader(std::string_view whole) : text(whole) {}

  /// Returns why the text is wrong, or an empty string.
  std::string read();
  TuneFile file;
  uint32_t line = 0; ///< that was read last
  bool hasOtherVersion = false;

private:
  bool next();
  std::string readHeader();
  std::string readContext(std::string_view rest);
  std::string readRow();

  std::string_view text;
  std::string_view current; ///< the line
  std::map<TuneContext, uint32_t> contexts;
  std::set<std::tuple<uint32_t, uint32_t, std::string>> known; ///< contexts, buckets and arms of rows
};

/// Goes to the next line that is neither empty nor a comment. Returns false at the end.
bool TuneReader::next() {
  while (!text.empty()) {
    current = takeUntil(text, '\n');
    ++line;
    if (!current.empty() && current[0] != '#')
      return true;
  }
  current = {};
  return false;
}

std::string TuneReader::readHeader() {
  next();
  std::string_view rest = current;
  if (takeUntil(rest, ' ') != "gc3-learned")
    return "the file does not begin with 'gc3-learned 1'";
  if (rest != "1") {
    hasOtherVersion = true;
    return "the file has version '" + std::string(isPrintable(rest) ? rest : "?") + "', this gc3 reads version 1";
  }
  next();
  rest = current;
  if (takeUntil(rest, ' ') != "machine" || rest.empty() || !isPrintable(rest))
    return "expected 'machine' and its name";
  file.machine = rest;
  next();
  rest = current;
  if (takeUntil(rest, ' ') != "bundle" || rest.size() != 18 || rest.substr(0, 2) != "0x" ||
      !parse(rest.substr(2), file.bundle, 16))
    return "expected 'bundle' and its digest: 0x and 16 digits";
  return {};
}

std::string TuneReader::readContext(std::string_view rest) {
  TuneContext context;
  const auto field = [&](std::string_view name) {
    std::string_view word = takeUntil(rest, ' ');
    return takeUntil(word, '=') == name ? word : std::string_view();
  };
  const bool hasRanks = parse(field("ranks"), context.ranks) && context.ranks > 0;
  const bool hasHosts = parse(field("hosts"), context.hosts) && context.hosts > 0 && context.hosts <= context.ranks;
  context.type = field("type");
  const std::string_view placement = field("inplace");
  context.inPlace = placement == "1";
  context.collective = rest;
  if (!hasRanks || !hasHosts || context.type.empty() || (placement != "0" && placement != "1") || rest.empty() ||
      !isPrintable(current))
    return "expected 'context ranks=R hosts=H type=T inplace=0 COLLECTIVE', with at least one host, and at most one "
           "for "
           "each rank";
  if (!contexts.emplace(context, static_cast<uint32_t>(file.contexts.size())).second)
    return "an earlier line has the same context";
  file.contexts.push_back(std::move(context));
  return {};
}

std::string TuneReader::readRow() {
  if (file.contexts.empty())
    return "a row needs a context before it";
  TuneRow row;
  row.context = static_cast<uint32_t>(file.contexts.size() - 1);
  std::string_view rest = current;
  const bool hasBucket = parse(takeUntil(rest, ' '), row.bucket) && row.bucket <= lastBucket;
  row.arm = takeUntil(rest, ' ');
  const bool hasCalls = parse(takeUntil(rest, ' '), row.calls) && row.calls > 0;
  const bool hasMedian = parse(takeUntil(rest, ' '), row.microseconds) && row.microseconds > 0;
  const bool hasSpread = parse(takeUntil(rest, ' '), row.spread) && row.spread >= 0;
  if (!hasBucket || row.arm.empty() || !isPrintable(row.arm) || !hasCalls || !hasMedian || !hasSpread ||
      !parse(rest, row.lastUse) || row.lastUse < 0)
    return "expected 'BUCKET ARM CALLS MEDIAN SPREAD SECONDS', with a bucket of at most 63, calls and a median above 0";
  if (!known.emplace(row.context, row.bucket, row.arm).second)
    return "an earlier line has the same bucket and arm";
  file.rows.push_back(std::move(row));
  return {};
}

std::string TuneReader::read() {
  if (std::string problem = readHeader(); !problem.empty())
    return problem;
  while (next()) {
    std::string_view rest = current;
    std::string problem = takeUntil(rest, ' ') == "context" ? readContext(rest) : readRow();
    if (!problem.empty())
      return problem;
  }
  return {};
}

} // namespace

TuneResult readTuneText(std::string_view text, const std::string &path) {
  TuneReader reader(text);
  std::string problem = reader.read();
  if (problem.empty())
    return std::move(reader.file);
  return TuneStatus{reader.hasOtherVersion ? TuneError::OtherVersion : TuneError::Malformed,
                    path + ":" + std::to_string(std::max(reader.line, 1u)) + ": " + problem};
}

TuneResult loadTuneFile(const std::string &path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE *)> stream(std::fopen(path.c_str(), "rbe"), std::fclose);
  std::string text;
  while (stream && !std::feof(stream.get()) && !std::ferror(stream.get()) && text.size() <= mostBytes) {
    char buffer[4096];
    text.append(buffer, std::fread(buffer, 1, sizeof buffer, stream.get()));
  }
  if (!stream || std::ferror(stream.get()))
    return TuneStatus{errno == ENOENT ? TuneError::Missing : TuneError::System, path + ": " + std::strerror(errno)};
  if (text.size() > mostBytes)
    return TuneStatus{TuneError::System, path + ": more than 64 MiB"};
  return readTuneText(text, path);
}

} // namespace gc3::select
