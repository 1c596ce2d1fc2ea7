// SPDX-License-Identifier: Apache-2.0
// Opens a bundle (docs/bundle.md) and returns views of its sections. Each section is checked before its first byte is
// used. Sections are not copied: views point into the mapping, and are valid as long as the BundleFile exists. Opening
// reads the header, the table and the manifest. A request for a section takes one pass over the section's bytes. No
// length or index is used before it is checked.
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
  NotABundle, ///< the file has another magic number
  Truncated,  ///< the file is shorter than its header states
  TooNew,     ///< the major version is newer than this reader
  Corrupt,    ///< a checksum or padding does not match
  Invalid,    ///< the bytes are intact, but break a rule of docs/bundle.md
};

/// Success, or a description of the error and its place in the file. The message is lower case, without a full stop.
struct BundleStatus {
  BundleError error = BundleError::None;
  std::string message;
  bool ok() const { return error == BundleError::None; }
};

template <typename T>
using BundleResult = common::Result<T, BundleStatus>;

/// One rank's part of one program. A view that BundleFile::rank returns satisfies all rules of docs/bundle.md.
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
  static BundleResult<std::unique_ptr<BundleFile>> open(const char *path);
  /// Copies `size` bytes at `bytes`; the caller may free them afterwards.
  static BundleResult<std::unique_ptr<BundleFile>> openMemory(const void *bytes, size_t size);

  BundleFile(const BundleFile &) = delete;
  BundleFile &operator=(const BundleFile &) = delete;
  ~BundleFile();

  const fbs::Manifest &manifest() const { return *manifestTable; }
  uint32_t programCount() const;
  /// Returns the program's entry of the dispatch table. `index` must be below programCount().
  const fbs::Program &program(uint32_t index) const;
  /// Checks and returns the part of `rank` in program `index`.
  BundleResult<RankView> rank(uint32_t index, uint32_t rank) const;
  /// Checks and returns the postcondition of program `index`.
  BundleResult<CheckView> check(uint32_t index) const;
  /// Returns the digest of all sections. Bundles with equal digests are equal.
  uint64_t digest() const;
  /// Returns the section table as stored, for --dump.
  std::span<const SectionEntry> sections() const { return table; }
  std::span<const std::byte> bytes() const { return contents; }

private:
  BundleFile() = default;
  BundleStatus checkHeader();
  BundleStatus checkTable() const;
  BundleStatus checkManifest();
  BundleStatus checkBaselines() const;
  BundleStatus checkOrder();
  BundleStatus checkSection(const SectionEntry &entry, const std::string &name) const;
  std::span<const std::byte> sectionBytes(const SectionEntry &entry) const;

  std::span<const std::byte> contents;
  std::span<const SectionEntry> table;
  const fbs::Manifest *manifestTable = nullptr;
  std::unique_ptr<uint32_t[]> firstSection; ///< by program: index of its postcondition in `table`
  void *mapping = nullptr;                  ///< null: the contents are in `owned`
  std::unique_ptr<std::byte[]> owned;
};

} // namespace gc3::bundle
