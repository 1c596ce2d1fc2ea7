// SPDX-License-Identifier: Apache-2.0
#include "MendBundle.h"

#include "Bundle_generated.h"
#include "bundle/Container.h"

#include <cstring>

using namespace gc3;
using namespace gc3::bundle;
using gc3::test::Section;

std::optional<std::vector<Section>> test::splitBundle(std::string_view bytes) {
  FileHeader header;
  if (bytes.size() < sizeof header)
    return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.sections > (bytes.size() - sizeof header) / sizeof(SectionEntry))
    return std::nullopt;
  std::vector<Section> sections;
  for (uint32_t i = 0; i != header.sections; ++i) {
    SectionEntry entry;
    std::memcpy(&entry, bytes.data() + sizeof header + i * sizeof entry, sizeof entry);
    if (entry.offset > bytes.size() || entry.size > bytes.size() - entry.offset)
      return std::nullopt;
    sections.push_back({entry.kind, entry.program, entry.rank, std::string(bytes.substr(entry.offset, entry.size))});
  }
  return sections;
}

/// Writes the digest through a mutable pointer, because the generated accessors can only read.
static void setDigest(const fbs::Program *program, uint64_t digest) {
  auto *table = const_cast<flatbuffers::Table *>(reinterpret_cast<const flatbuffers::Table *>(program));
  table->SetField<uint64_t>(fbs::Program::VT_DIGEST, digest, 0);
}

/// Computes the digests of the programs and writes them into the manifest.
static void mendDigests(std::vector<Section> &sections) {
  std::vector<SectionEntry> table;
  for (const Section &section : sections)
    table.push_back({section.kind, section.program, section.rank, 0, 0, section.bytes.size(),
                     checksum(section.bytes.data(), section.bytes.size())});
  auto *data = reinterpret_cast<uint8_t *>(sections[0].bytes.data());
  flatbuffers::Verifier verifier(data, sections[0].bytes.size());
  if (!verifier.VerifyBuffer<fbs::Manifest>(manifestIdentifier))
    return;
  const auto *programs = flatbuffers::GetRoot<fbs::Manifest>(data)->programs();
  uint64_t first = 1;
  for (uint32_t i = 0; programs && i != programs->size(); ++i) {
    uint64_t count = uint64_t{programs->Get(i)->ranks()} + 1;
    if (count > table.size() - first)
      return;
    setDigest(programs->Get(i), programDigest(&table[first], count));
    first += count;
  }
}

std::string test::joinBundle(std::vector<Section> sections) {
  if (!sections.empty())
    mendDigests(sections);
  FileHeader header{{}, majorVersion, minorVersion, static_cast<uint32_t>(sections.size()), 0, 0, 0};
  std::memcpy(header.magic, fileMagic, sizeof fileMagic);
  std::vector<SectionEntry> table;
  std::string body;
  uint64_t start = sizeof header + sections.size() * sizeof(SectionEntry);
  for (const Section &section : sections) {
    body.resize(alignSection(start + body.size()) - start);
    table.push_back({section.kind, section.program, section.rank, 0, start + body.size(), section.bytes.size(),
                     checksum(section.bytes.data(), section.bytes.size())});
    body += section.bytes;
  }
  header.fileSize = start + body.size();
  header.checksum = headerChecksum(header, table.data());
  std::string file(reinterpret_cast<const char *>(&header), sizeof header);
  for (const SectionEntry &entry : table)
    file.append(reinterpret_cast<const char *>(&entry), sizeof entry);
  return file + body;
}
