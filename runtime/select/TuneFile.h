// SPDX-License-Identifier: Apache-2.0
// What online selection has learned, as a text file (docs/selection.md). A file is valid for one machine and one
// bundle. It is replaced as a whole, so readers never see a part of it.
#pragma once

#include "gc3/Common/Result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace gc3::select {

/// What a choice depends on, except the size.
struct TuneContext {
  std::string collective; ///< the form, such as "broadcast(root = 1)": printable ASCII
  std::string type;       ///< datatype, operation and traffic, such as "float/sum": printable ASCII without blanks
  bool inPlace = false;
  uint32_t ranks = 1;
  uint32_t hosts = 1; ///< at most `ranks`
  bool operator==(const TuneContext &) const = default;
  bool operator<(const TuneContext &other) const {
    return std::tie(collective, type, inPlace, ranks, hosts) <
           std::tie(other.collective, other.type, other.inPlace, other.ranks, other.hosts);
  }
};

/// The times of an arm in a bucket of a context.
struct TuneRow {
  uint32_t context = 0;   ///< index in TuneFile::contexts
  uint32_t bucket = 0;    ///< floor(log2(bytes)) of a call, at most 63
  std::string arm;        ///< a program's name, or "nccl": printable ASCII without blanks
  uint64_t calls = 1;     ///< at least 1
  float microseconds = 0; ///< the median; finite, above 0
  float spread = 0;       ///< robust standard deviation / median; finite, at least 0
  int64_t lastUse = 0;    ///< seconds since 1970, at least 0
};

struct TuneFile {
  std::string machine;               ///< names what the times depend on, such as processors and GPUs
  uint64_t bundle = 0;               ///< bundle::BundleFile::digest()
  std::vector<TuneContext> contexts; ///< different ones
  std::vector<TuneRow> rows;         ///< at most one for each context, bucket and arm
};

/// The largest bucket.
inline constexpr uint32_t lastBucket = 63;

enum class TuneError : uint8_t {
  None,
  Missing,      ///< there is no file
  System,       ///< the file can't be read
  OtherVersion, ///< the file has another version of the format
  Malformed,    ///< the message has the line
};

/// Success, or why a file can't be read. The message begins with the path, is lower case and has no full stop.
struct TuneStatus {
  TuneError error = TuneError::None;
  std::string message;
  bool ok() const { return error == TuneError::None; }
};

using TuneResult = common::Result<TuneFile, TuneStatus>;

/// Returns the text of a file. Contexts, then buckets, then arms are in ascending order, so equal contents give equal
/// texts. Replaces characters of `machine` that are not printable ASCII by '?'.
std::string writeTuneText(const TuneFile &file);

/// Reads a text. `path` is for messages.
TuneResult readTuneText(std::string_view text, const std::string &path);

/// Reads the file at `path`.
TuneResult loadTuneFile(const std::string &path);

/// Replaces the file at `path`, or creates it: writes a temporary file in the same folder, and renames it. If `path` is
/// a symbolic link, replaces its target. After an error, the file has not changed. Returns an error text, or an empty
/// string.
std::string saveTuneFile(const std::string &path, const TuneFile &file);

/// Adds the rows of `more` to `into`, which is for the same machine and bundle. If both have a row for one context,
/// bucket and arm, keeps the one with more calls; that of `into` if they are equal. So the order of additions does not
/// matter, and a repeated addition changes nothing. `more` can have several rows for one context, bucket and arm.
void mergeTuneFile(TuneFile &into, const TuneFile &more);

/// Adds what was learned to the file at `path`, as mergeTuneFile() does, and replaces the file as saveTuneFile() does.
/// If it is for another machine or bundle, replaces all it has. Threads and processes can add to one file at the same
/// time: the file `path`.lock orders them. Returns an error text, or an empty string. It is an error if the file can't
/// be read, or is no file of learned times.
std::string addToTuneFile(const std::string &path, const TuneFile &learned);

/// Returns why what the file holds is not valid for a machine and a bundle, or an empty string.
std::string reasonToIgnore(const TuneFile &file, std::string_view machine, uint64_t bundle);

/// Returns a digest as the file has it: 0x and 16 digits.
std::string digestText(uint64_t digest);

} // namespace gc3::select
