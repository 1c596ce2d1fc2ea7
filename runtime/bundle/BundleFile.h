// SPDX-License-Identifier: Apache-2.0
// Opens a bundle (docs/bundle.md) and hands out views of its sections, each checked before its first byte is used.
// Nothing of the file is copied: views point into the mapping and live as long as the BundleFile. Opening costs the
// header, the table and the manifest; a section costs a pass over its own bytes when it is asked for. Every length and
// index is hostile until checked.
#pragma once

#include "Bundle_generated.h"
#include "bundle/Container.h"
#include "gc3/Common/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace gc3::bundle {

enum class BundleError : uint8_t {
  None,
  System,     ///< the file can't be opened or mapped
  NotABundle, ///< foreign magic
  Truncated,  ///< the file ends before what its header promises
  TooNew,     ///< a larger major version
  Corrupt,    ///< a checksum or padding does not match
  Invalid,    ///< intact bytes that break a rule of docs/bundle.md
};

/// Success, or what is wrong with the file and where. The message is lower case, without a full stop.
struct BundleStatus {
  BundleError error = BundleError::None;
  std::string message;
  bool ok() const { return error == BundleError::None; }
};

template <typename T>
using Result = common::Result<T, BundleStatus>;

/// One rank's part of one program. After BundleFile::rank all of it holds what docs/bundle.md promises.
struct RankView {
  uint32_t rank = 0;
  uint32_t inputSlots = 0;
  uint32_t outputSlots = 0;
  fbs::Alias alias = fbs::Alias::None;
  uint32_t aliasOffset = 0;
  bool writesInput = false;
  std::span<const uint32_t> scratchSlots;
  std::span<const fbs::ThreadBlock> threadBlocks;
  std::span<const fbs::Instruction> instructions;
  std::span<const fbs::Wait> waits;
};

/// The postcondition of one program; see table Check of Bundle.fbs.
struct CheckView {
  std::span<const uint32_t> valueBegin;
  std::span<const fbs::Run> runs;
  std::span<const uint32_t> rowOfRank;
  std::span<const uint32_t> rowBegin;
  std::span<const uint32_t> rows;
};

class BundleFile {
public:
  /// Maps the file at `path`.
  static Result<std::unique_ptr<BundleFile>> open(const char *path);
  /// Copies `size` bytes at `bytes`; the caller may free them afterwards.
  static Result<std::unique_ptr<BundleFile>> openMemory(const void *bytes, size_t size);

  BundleFile(const BundleFile &) = delete;
  BundleFile &operator=(const BundleFile &) = delete;
  ~BundleFile();

  const fbs::Manifest &manifest() const { return *manifestTable; }
  uint32_t programCount() const;
  /// The program's line of the dispatch table; index below programCount().
  const fbs::Program &program(uint32_t index) const;
  /// Checks and views what `rank` of program `index` runs.
  Result<RankView> rank(uint32_t index, uint32_t rank) const;
  /// Checks and views the postcondition of program `index`.
  Result<CheckView> check(uint32_t index) const;
  /// Of all sections: equal digests, equal bundles.
  uint64_t digest() const;
  /// For --dump: the section table as stored.
  std::span<const SectionEntry> sections() const { return table; }
  std::span<const std::byte> bytes() const { return contents; }

private:
  BundleFile() = default;
  BundleStatus checkHeader();
  BundleStatus checkTable() const;
  BundleStatus checkManifest();
  BundleStatus checkOrder();
  BundleStatus checkSection(const SectionEntry &entry, const std::string &name) const;
  std::span<const std::byte> sectionBytes(const SectionEntry &entry) const;

  std::span<const std::byte> contents;
  std::span<const SectionEntry> table;
  const fbs::Manifest *manifestTable = nullptr;
  std::unique_ptr<uint32_t[]> firstSection; ///< by program: the table index of its postcondition
  void *mapping = nullptr;                  ///< munmap when not null
  std::unique_ptr<std::byte[]> owned;
};

} // namespace gc3::bundle
