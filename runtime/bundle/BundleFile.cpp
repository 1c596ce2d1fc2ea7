// SPDX-License-Identifier: Apache-2.0
// Checks the container in the order of docs/bundle.md: magic, version, table, sizes, padding, manifest, order of the
// sections. Then checks each section on demand: checksum, FlatBuffers verifier, meaning (Validate.cpp). Linear in the
// bytes read.
#include "bundle/BundleFile.h"

#include "bundle/Validate.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gc3::bundle {

namespace {

BundleStatus fail(BundleError error, std::string message) {
  return {error, std::move(message)};
}

template <typename T>
std::span<const T> scalars(const flatbuffers::Vector<T> *vector) {
  return vector ? std::span<const T>(vector->data(), vector->size()) : std::span<const T>();
}

template <typename T>
std::span<const T> structs(const flatbuffers::Vector<const T *> *vector) {
  return vector ? std::span<const T>(reinterpret_cast<const T *>(vector->Data()), vector->size())
                : std::span<const T>();
}

} // namespace

BundleFile::~BundleFile() {
  if (mapping)
    munmap(mapping, contents.size());
}

BundleResult<std::unique_ptr<BundleFile>> BundleFile::open(const char *path) {
  auto systemError = [path](const char *what) {
    return fail(BundleError::System, std::string("can't ") + what + " '" + path + "': " + std::strerror(errno));
  };
  int descriptor = ::open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return systemError("open");
  struct stat info;
  if (fstat(descriptor, &info) != 0) {
    BundleStatus status = systemError("read");
    close(descriptor);
    return status;
  }
  if (!S_ISREG(info.st_mode)) {
    close(descriptor);
    return fail(BundleError::System, std::string("can't read '") + path + "': not a regular file");
  }
  if (info.st_size == 0) {
    close(descriptor);
    return fail(BundleError::Truncated, "truncated bundle: the file is empty");
  }
  auto size = static_cast<size_t>(info.st_size);
  void *mapping = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  BundleStatus status = mapping == MAP_FAILED ? systemError("map") : BundleStatus{};
  close(descriptor);
  if (!status.ok())
    return status;
  std::unique_ptr<BundleFile> opened(new BundleFile);
  opened->mapping = mapping;
  opened->contents = {static_cast<const std::byte *>(mapping), size};
  if (status = opened->checkHeader(); !status.ok())
    return status;
  return opened;
}

BundleResult<std::unique_ptr<BundleFile>> BundleFile::openMemory(const void *bytes, size_t size) {
  std::unique_ptr<BundleFile> opened(new BundleFile);
  opened->owned.reset(new std::byte[size + 1]); // operator new aligns to 16, as sections need
  if (size)
    std::memcpy(opened->owned.get(), bytes, size);
  opened->contents = {opened->owned.get(), size};
  if (BundleStatus status = opened->checkHeader(); !status.ok())
    return status;
  return opened;
}

BundleStatus BundleFile::checkHeader() {
  size_t size = contents.size();
  if (std::memcmp(contents.data(), fileMagic, std::min(size, sizeof fileMagic)) != 0)
    return fail(BundleError::NotABundle, "not a gc3 bundle: the file does not begin with 'GC3B'");
  if (size < sizeof(FileHeader))
    return fail(BundleError::Truncated,
                "truncated bundle: " + std::to_string(size) + " bytes, the header alone has 32");
  auto &header = *reinterpret_cast<const FileHeader *>(contents.data());
  if (header.major > majorVersion)
    return fail(BundleError::TooNew, "bundle has format version " + std::to_string(header.major) +
                                         ", this reader knows up to " + std::to_string(majorVersion) +
                                         "; use a newer gc3");
  uint64_t tableEnd = sizeof(FileHeader) + uint64_t{header.sections} * sizeof(SectionEntry);
  if (tableEnd > size) {
    if (header.fileSize > size)
      return fail(BundleError::Truncated,
                  "truncated bundle: " + std::to_string(size) + " of " + std::to_string(header.fileSize) + " bytes");
    return fail(BundleError::Corrupt, "corrupt bundle: the section table does not fit into the file");
  }
  table = {reinterpret_cast<const SectionEntry *>(contents.data() + sizeof(FileHeader)), header.sections};
  if (headerChecksum(header, table.data()) != header.checksum)
    return fail(BundleError::Corrupt, "corrupt bundle: the checksum of the header and section table does not match");
  if (header.fileSize > size)
    return fail(BundleError::Truncated,
                "truncated bundle: " + std::to_string(size) + " of " + std::to_string(header.fileSize) + " bytes");
  if (header.fileSize < size)
    return fail(BundleError::Corrupt,
                "corrupt bundle: " + std::to_string(size - header.fileSize) + " bytes after its end");
  if (header.major == 0 || header.zero != 0)
    return fail(BundleError::Invalid, "invalid bundle: header with version 0 or a reserved field that is not 0");
  if (BundleStatus status = checkTable(); !status.ok())
    return status;
  if (BundleStatus status = checkManifest(); !status.ok())
    return status;
  return checkOrder();
}

BundleStatus BundleFile::checkTable() const {
  uint64_t end = sizeof(FileHeader) + table.size_bytes();
  auto gap = [this](uint64_t from, uint64_t to) {
    std::span<const std::byte> between = contents.subspan(from, to - from);
    return std::all_of(between.begin(), between.end(), [](std::byte b) { return b == std::byte{0}; });
  };
  for (const SectionEntry &entry : table) {
    auto index = std::to_string(&entry - table.data());
    if (entry.offset % sectionAlignment != 0 || entry.zero != 0)
      return fail(BundleError::Invalid, "invalid bundle: section " + index + " is not aligned to 16 bytes");
    if (entry.offset < end || entry.offset > contents.size() || entry.size > contents.size() - entry.offset)
      return fail(BundleError::Invalid,
                  "invalid bundle: section " + index + " overlaps another section or exceeds the file");
    if (entry.offset - end >= sectionAlignment || !gap(end, entry.offset))
      return fail(BundleError::Corrupt, "corrupt bundle: the padding before section " + index + " is not zero");
    end = entry.offset + entry.size;
  }
  if (contents.size() - end >= sectionAlignment || !gap(end, contents.size()))
    return fail(BundleError::Corrupt, "corrupt bundle: the padding after the last section is not zero");
  return {};
}

BundleStatus BundleFile::checkSection(const SectionEntry &entry, const std::string &name) const {
  auto bytes = sectionBytes(entry);
  if (checksum(bytes.data(), bytes.size()) != entry.checksum)
    return fail(BundleError::Corrupt, "corrupt bundle: the checksum of " + name + " does not match");
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE || bytes.size() < 8)
    return fail(BundleError::Invalid, "invalid bundle: " + name + " has " + std::to_string(bytes.size()) + " bytes");
  return {};
}

std::span<const std::byte> BundleFile::sectionBytes(const SectionEntry &entry) const {
  return contents.subspan(entry.offset, entry.size);
}

/// Returns the root of a section, or null if the FlatBuffers verifier rejects it.
template <typename Table>
static const Table *verifiedRoot(std::span<const std::byte> bytes, const char *identifier) {
  auto data = reinterpret_cast<const uint8_t *>(bytes.data());
  flatbuffers::Verifier verifier(data, bytes.size());
  return verifier.VerifyBuffer<Table>(identifier) ? flatbuffers::GetRoot<Table>(data) : nullptr;
}

BundleStatus BundleFile::checkManifest() {
  if (table.empty() || table[0].kind != static_cast<uint32_t>(SectionKind::Manifest))
    return fail(BundleError::Invalid, "invalid bundle: the first section is not a manifest");
  if (BundleStatus status = checkSection(table[0], "the manifest"); !status.ok())
    return status;
  manifestTable = verifiedRoot<fbs::Manifest>(sectionBytes(table[0]), manifestIdentifier);
  if (!manifestTable)
    return fail(BundleError::Invalid, "invalid bundle: the manifest is malformed");
  for (uint32_t i = 0; i < programCount(); ++i) {
    if (!hasNames(program(i)))
      return fail(BundleError::Invalid,
                  "invalid bundle: program " + std::to_string(i) +
                      ": its names, and that of its collective, must consist of letters, digits and _");
    if (!hasForm(program(i)))
      return fail(BundleError::Invalid, "invalid bundle: program '" + program(i).name()->str() +
                                            "': its collective has malformed arguments, or no meaning");
    if (std::string problem = validateProgram(program(i)); !problem.empty())
      return fail(BundleError::Invalid, "invalid bundle: program '" + program(i).name()->str() + "': " + problem);
  }
  return checkBaselines();
}

BundleStatus BundleFile::checkBaselines() const {
  const auto *baselines = manifestTable->baselines();
  std::set<std::pair<std::string_view, uint32_t>> known;
  for (uint32_t i = 0; baselines && i < baselines->size(); ++i) {
    const fbs::Baseline &baseline = *baselines->Get(i);
    std::string problem = validateBaseline(baseline);
    if (problem.empty() && !known.emplace(baseline.form()->string_view(), baseline.ranks()).second)
      problem = "an earlier one is for the same collective and ranks";
    if (!problem.empty())
      return fail(BundleError::Invalid, "invalid bundle: baseline " + std::to_string(i) + ": " + problem);
  }
  return {};
}

BundleStatus BundleFile::checkOrder() {
  firstSection.reset(new uint32_t[programCount() + 1]);
  uint64_t next = 1;
  for (uint32_t i = 0; i < programCount(); ++i) {
    uint64_t sections = uint64_t{program(i).ranks()} + 1;
    if (sections > table.size() - next)
      return fail(BundleError::Invalid,
                  "invalid bundle: sections of program '" + program(i).name()->str() + "' are missing");
    firstSection[i] = static_cast<uint32_t>(next);
    for (uint64_t s = 0; s < sections; ++s) {
      const SectionEntry &entry = table[next + s];
      auto kind = static_cast<uint32_t>(s == 0 ? SectionKind::Check : SectionKind::RankProgram);
      if (entry.kind != kind || entry.program != i || entry.rank != (s == 0 ? 0 : s - 1))
        return fail(BundleError::Invalid, "invalid bundle: section " + std::to_string(next + s) + " is out of order");
    }
    if (programDigest(&table[next], sections) != program(i).digest())
      return fail(BundleError::Invalid, "invalid bundle: the digest of program '" + program(i).name()->str() +
                                            "' does not match its sections");
    next += sections;
  }
  if (next != table.size())
    return fail(BundleError::Invalid, "invalid bundle: " + std::to_string(table.size() - next) + " extra sections");
  return {};
}

uint64_t BundleFile::digest() const {
  FileHeader header;
  std::memcpy(&header, contents.data(), sizeof header);
  return header.checksum;
}

uint32_t BundleFile::programCount() const {
  return manifestTable->programs() ? manifestTable->programs()->size() : 0;
}

const fbs::Program &BundleFile::program(uint32_t index) const {
  return *manifestTable->programs()->Get(index);
}

BundleResult<RankView> BundleFile::rank(uint32_t index, uint32_t rank) const {
  const SectionEntry &entry = table[firstSection[index] + 1 + rank];
  std::string name = "rank " + std::to_string(rank) + " of program '" + program(index).name()->str() + "'";
  if (BundleStatus status = checkSection(entry, name); !status.ok())
    return status;
  auto *root = verifiedRoot<fbs::RankProgram>(sectionBytes(entry), rankProgramIdentifier);
  if (!root)
    return fail(BundleError::Invalid, "invalid bundle: " + name + " is malformed");
  const RankView view{root->rank(),
                      root->input_slots(),
                      root->output_slots(),
                      root->alias(),
                      root->alias_offset(),
                      root->writes_input(),
                      scalars(root->scratch_slots()),
                      structs(root->thread_blocks()),
                      structs(root->instructions()),
                      structs(root->waits())};
  std::string problem =
      view.rank != rank ? "has rank number " + std::to_string(view.rank) : validateRank(program(index), view);
  if (!problem.empty())
    return fail(BundleError::Invalid, "invalid bundle: " + name + ": " + problem);
  return view;
}

BundleResult<CheckView> BundleFile::check(uint32_t index) const {
  const SectionEntry &entry = table[firstSection[index]];
  std::string name = "the postcondition of program '" + program(index).name()->str() + "'";
  if (BundleStatus status = checkSection(entry, name); !status.ok())
    return status;
  auto *root = verifiedRoot<fbs::Check>(sectionBytes(entry), checkIdentifier);
  if (!root)
    return fail(BundleError::Invalid, "invalid bundle: " + name + " is malformed");
  const CheckView view{scalars(root->value_begin()), structs(root->runs()), scalars(root->row_of_rank()),
                       scalars(root->row_begin()), scalars(root->rows())};
  if (std::string problem = validateCheck(program(index), view); !problem.empty())
    return fail(BundleError::Invalid, "invalid bundle: " + name + ": " + problem);
  return view;
}

} // namespace gc3::bundle
