// SPDX-License-Identifier: Apache-2.0
#include "tuner/Table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <span>

namespace gc3::tuner {

namespace {

constexpr std::string_view firstWord = "gc3-nccl-table";
constexpr std::string_view version = "1";
constexpr std::string_view columns = "collective ranks nodes bucket algorithm protocol channels microseconds";
constexpr size_t wordCount = 8;
constexpr size_t mostBytes = 64 << 20;

/// Splits a line at blanks into at most `words.size()` words. Returns the number of words in the line.
size_t split(std::string_view line, std::span<std::string_view> words) {
  constexpr std::string_view blanks = " \t\r";
  size_t count = 0;
  for (size_t begin = line.find_first_not_of(blanks); begin != line.npos; ++count) {
    const size_t end = std::min(line.find_first_of(blanks, begin), line.size());
    if (count < words.size())
      words[count] = line.substr(begin, end - begin);
    begin = line.find_first_not_of(blanks, end);
  }
  return count;
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

/// Reads one line of a table. Its functions return false and set `error` if a word is wrong.
class RowReader {
public:
  bool read(std::span<const std::string_view> words, Row &row) {
    uint32_t collective = 0, bucket = 0, algorithm = 0, protocol = 0;
    if (!readName("collective", words[0], collectiveNames, collective) ||
        !readNumber("ranks", words[1], 2, INT32_MAX, row.ranks) ||
        !readNumber("nodes", words[2], 1, row.ranks, row.nodes) ||
        !readNumber("bucket", words[3], 0, bucketCount - 1, bucket) ||
        !readName("algorithm", words[4], algorithmNames, algorithm) ||
        !readName("protocol", words[5], protocolNames, protocol))
      return false;
    row.collective = static_cast<Collective>(collective), row.bucket = static_cast<uint8_t>(bucket);
    row.arm.algorithm = static_cast<Algorithm>(algorithm), row.arm.protocol = static_cast<Protocol>(protocol);
    return readChannels(words[6], row) && readTime(words[7], row.arm.time);
  }
  std::string error;

private:
  bool fail(std::string text) {
    error = std::move(text);
    return false;
  }
  bool readName(std::string_view column, std::string_view word, std::span<const std::string_view> names,
                uint32_t &index) {
    std::string known;
    for (index = 0; index < names.size(); ++index) {
      if (names[index] == word)
        return true;
      known += (index == 0 ? "" : ", ") + std::string(names[index]);
    }
    return fail("unknown " + std::string(column) + " " + quoted(word) + "; there are " + known);
  }
  bool readNumber(std::string_view column, std::string_view word, uint32_t least, uint32_t most, uint32_t &number) {
    const auto [end, code] = std::from_chars(word.begin(), word.end(), number);
    if (code == std::errc() && end == word.end() && number >= least && number <= most)
      return true;
    return fail(std::string(column) + " must be from " + std::to_string(least) + " to " + std::to_string(most) +
                ", not " + quoted(word));
  }
  bool readChannels(std::string_view word, Row &row) {
    uint32_t channels = 0;
    if (word != "-") {
      if (!readNumber("channels", word, 1, mostChannels, channels))
        return false;
      if (!canSetChannels(row.arm.algorithm, row.nodes))
        return fail("NCCL sets the channels of " + std::string(algorithmNames[static_cast<size_t>(row.arm.algorithm)]) +
                    (row.nodes > 1 ? " on several nodes" : "") + " itself; write '-', not " + quoted(word));
    }
    row.arm.channels = static_cast<uint8_t>(channels);
    return true;
  }
  bool readTime(std::string_view word, float &time) {
    time = 0;
    if (word == "?")
      return true;
    const auto [end, code] = std::from_chars(word.begin(), word.end(), time);
    if (code == std::errc() && end == word.end() && std::isfinite(time) && time > 0)
      return true;
    return fail("microseconds must be a number above 0, or '?' if not measured, not " + quoted(word));
  }
};

/// Returns what is wrong with a line that is neither empty nor a comment, or an empty string.
std::string parseLine(std::string_view line, bool &hasBegun, std::vector<Row> &rows) {
  std::array<std::string_view, wordCount> words;
  const size_t count = split(line, words);
  if (words[0] == firstWord) {
    if (count != 2 || words[1] != version)
      return "this gc3 reads only version " + std::string(version) + " of tables";
    hasBegun = true;
    return {};
  }
  if (!hasBegun)
    return "a table begins with '" + std::string(firstWord) + " " + std::string(version) + "'";
  if (count != wordCount)
    return "a row has " + std::to_string(wordCount) + " words (" + std::string(columns) + "), not " +
           std::to_string(count);
  RowReader reader;
  if (reader.read(words, rows.emplace_back()))
    return {};
  rows.pop_back();
  return reader.error;
}

} // namespace

uint32_t bucketOf(uint64_t bytes) {
  return bytes == 0 ? 0 : static_cast<uint32_t>(std::bit_width(bytes)) - 1;
}

bool canSetChannels(Algorithm algorithm, uint32_t nodes) {
  switch (algorithm) {
  case Algorithm::Tree:
  case Algorithm::Ring:
  case Algorithm::NvlsTree:
  case Algorithm::Pat: return true;
  case Algorithm::Nvls: return nodes == 1;
  case Algorithm::CollNetDirect:
  case Algorithm::CollNetChain: return false;
  }
  return false;
}

std::string parseTable(std::string_view text, std::vector<Row> &rows) {
  bool hasBegun = false;
  for (size_t begin = 0, number = 1; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == line.npos || line[first] == '#')
      continue;
    if (const std::string problem = parseLine(line, hasBegun, rows); !problem.empty())
      return "line " + std::to_string(number) + ": " + problem;
  }
  return hasBegun ? "" : "the file is empty; a table begins with '" + std::string(firstWord) + " 1'";
}

std::string printTable(const std::vector<Row> &rows) {
  std::string text = std::string(firstWord) + " " + std::string(version) + "\n# " + std::string(columns) + "\n";
  for (const Row &row : rows) {
    std::array<char, 32> time{'?'};
    char *end = time.data() + 1;
    if (row.arm.time > 0)
      end = std::to_chars(time.begin(), time.end(), row.arm.time).ptr;
    const std::string_view words[] = {algorithmNames[static_cast<size_t>(row.arm.algorithm)],
                                      protocolNames[static_cast<size_t>(row.arm.protocol)]};
    text += collectiveNames[static_cast<size_t>(row.collective)];
    for (const uint32_t number : {row.ranks, row.nodes, static_cast<uint32_t>(row.bucket)})
      text += " " + std::to_string(number);
    for (const std::string_view word : words)
      (text += " ") += word;
    text += " " + (row.arm.channels == 0 ? "-" : std::to_string(row.arm.channels)) + " ";
    text.append(time.data(), end) += '\n';
  }
  return text;
}

std::string readTable(const std::string &path, std::string &text, std::vector<Row> &rows) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 1 << 16> part;
  while (file.good() && text.size() <= mostBytes) {
    file.read(part.data(), part.size());
    text.append(part.data(), static_cast<size_t>(file.gcount()));
  }
  if (!file.eof() && text.size() <= mostBytes)
    return "cannot read " + quoted(path) + ": " + std::strerror(errno);
  if (text.size() > mostBytes)
    return quoted(path) + " is larger than 64 MiB";
  const std::string problem = parseTable(text, rows);
  return problem.empty() ? "" : path + ": " + problem;
}

} // namespace gc3::tuner
