// SPDX-License-Identifier: Apache-2.0
// The container of a bundle (docs/bundle.md): header, section table, checksums. Readers and writers of bundles use it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gc3::bundle {

static_assert(std::endian::native == std::endian::little,
              "bundles are read in place: a little-endian machine is required");

inline constexpr char fileMagic[4] = {'G', 'C', '3', 'B'};
inline constexpr uint16_t majorVersion = 1;
inline constexpr uint16_t minorVersion = 3;
inline constexpr size_t sectionAlignment = 16;

/// The first 32 bytes of the file.
struct FileHeader {
  char magic[4];
  uint16_t major;
  uint16_t minor;
  uint32_t sections;
  uint32_t zero;
  uint64_t fileSize;
  uint64_t checksum; ///< checksum of the 24 bytes before this field, followed by the section table
};
static_assert(sizeof(FileHeader) == 32 && offsetof(FileHeader, checksum) == 24);
static_assert(std::is_trivially_copyable_v<FileHeader>);

enum class SectionKind : uint32_t { Manifest = 1, Check = 2, RankProgram = 3 };

/// One entry of the section table, which follows the header.
struct SectionEntry {
  uint32_t kind;
  uint32_t program; ///< 0 for the manifest
  uint32_t rank;    ///< 0 unless kind is RankProgram
  uint32_t zero;
  uint64_t offset; ///< a multiple of sectionAlignment, from the start of the file
  uint64_t size;
  uint64_t checksum; ///< checksum of the section's bytes
};
static_assert(sizeof(SectionEntry) == 40 && offsetof(SectionEntry, checksum) == 32);
static_assert(std::is_trivially_copyable_v<SectionEntry>);

/// FlatBuffers file identifiers of the sections.
inline constexpr char manifestIdentifier[] = "GC3M";
inline constexpr char checkIdentifier[] = "GC3C";
inline constexpr char rankProgramIdentifier[] = "GC3R";

constexpr uint64_t alignSection(uint64_t offset) {
  return (offset + sectionAlignment - 1) / sectionAlignment * sectionAlignment;
}

/// Returns the XXH3-64 hash of `size` bytes, with seed 0.
uint64_t checksum(const void *bytes, size_t size);

/// Returns the header's checksum, over bytes 0 to 23 of the header, then the table.
uint64_t headerChecksum(const FileHeader &header, const SectionEntry *table);

/// Returns Program.digest: XXH3-64 of the checksums of a program's sections, in file order.
uint64_t programDigest(const SectionEntry *first, size_t count);

} // namespace gc3::bundle
