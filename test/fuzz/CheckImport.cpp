// SPDX-License-Identifier: Apache-2.0
#include "CheckImport.h"
#include "bundle/BundleFile.h"
#include "gc3/Emit/Bundle.h"
#include "gc3/Emit/MscclXml.h"
#include "gc3/IR/Print.h"
#include "gc3/Import/Bundle.h"
#include "gc3/Import/MscclXml.h"
#include "gc3/Support/SourceManager.h"
#include "gc3/Verify/Verify.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstring>

using namespace gc3;

static constexpr ir::ReadOptions smallBudgets{.maxSlots = 4096, .maxContributions = 4096};

static std::string print(const ir::Program &program) {
  std::string text;
  llvm::raw_string_ostream out(text);
  ir::print(out, program);
  return out.str();
}

namespace {

/// Sources and diagnostics of one reading. Places must be good enough to be printed.
struct Reading {
  SourceManager sources;
  Diagnostics diags{sources};
  ~Reading() {
    std::string told;
    llvm::raw_string_ostream out(told);
    diags.print(out, false);
  }
};

} // namespace

/// The programs for the calls that the file serves, or none.
static std::vector<ir::Program> readXml(const std::string &text, std::string &problem) {
  Reading reading;
  std::vector<ir::Program> programs;
  auto algorithm = imports::readMscclXml(reading.sources, reading.diags, "text", text, smallBudgets.maxSlots);
  if (algorithm.has_value() == reading.diags.hasErrors())
    problem = "neither an algorithm nor an error, or both";
  for (bool inPlace : {true, false}) {
    if (!algorithm || !(inPlace ? algorithm->inPlace : algorithm->outOfPlace))
      continue;
    auto program = imports::programOf(*algorithm, imports::unknownCollective(*algorithm, inPlace), 2, reading.diags);
    if (program.has_value() == reading.diags.hasErrors())
      problem = "neither a program nor an error, or both";
    if (!program)
      return {};
    programs.push_back(std::move(*program));
  }
  return programs;
}

/// Empty if the exporter refuses the program.
static std::string exportXml(const ir::Program &program) {
  SourceManager sources;
  Diagnostics diags(sources);
  std::string text;
  llvm::raw_string_ostream out(text);
  emit::writeMscclXml(out, program, emit::MscclDialect::Msccl, diags);
  return out.str();
}

static std::string checkProgram(const ir::Program &program) {
  std::string once = print(program);
  Reading reading;
  std::vector<ir::Program> again = ir::readGC3IR(reading.sources, reading.diags, "text", once, smallBudgets);
  if (again.size() != 1 || print(again[0]) != once)
    return "what was printed is not read, or prints otherwise: " + once;
  if (!verify::verify(program, {}).holds())
    return {};
  std::string text = exportXml(program);
  if (text.empty())
    return {};
  std::string problem;
  std::vector<ir::Program> imported = readXml(text, problem);
  if (imported.size() != 1 || exportXml(imported[0]) != text)
    return "what was exported is not imported, or exports otherwise: " + text;
  return problem;
}

std::string gc3::test::checkMscclXml(const std::string &text, unsigned &accepted) {
  std::string problem;
  for (const ir::Program &program : readXml(text, problem)) {
    ++accepted;
    if (problem.empty())
      problem = checkProgram(program);
  }
  return problem;
}

/// Makes the digest of each program that of its sections, as far as the manifest can be read.
static void resealPrograms(std::string &bytes, const std::vector<bundle::SectionEntry> &table) {
  if (table.empty() || table[0].offset > bytes.size() || table[0].size > bytes.size() - table[0].offset)
    return;
  auto *manifest = reinterpret_cast<uint8_t *>(bytes.data() + table[0].offset);
  if (table[0].offset % bundle::sectionAlignment != 0 || table[0].size < 8 ||
      !flatbuffers::Verifier(manifest, table[0].size).VerifyBuffer<bundle::fbs::Manifest>(bundle::manifestIdentifier))
    return;
  const auto *programs = flatbuffers::GetRoot<bundle::fbs::Manifest>(manifest)->programs();
  size_t next = 1;
  for (uint32_t i = 0; programs && i != programs->size(); ++i) {
    const bundle::fbs::Program *program = programs->Get(i);
    size_t sections = size_t(program->ranks()) + 1;
    if (sections > table.size() - next)
      return;
    uint64_t digest = bundle::programDigest(&table[next], sections);
    const uint8_t *stored = reinterpret_cast<const flatbuffers::Table *>(program)->GetAddressOf(program->VT_DIGEST);
    if (stored)
      std::memcpy(manifest + (stored - manifest), &digest, sizeof digest);
    next += sections;
  }
}

/// Makes checksums and digests those of the bytes. What is too broken for that is left alone.
static void reseal(std::string &bytes) {
  bundle::FileHeader header;
  if (bytes.size() < sizeof header)
    return;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.fileSize = bytes.size();
  if (header.sections == 0 || header.sections > (bytes.size() - sizeof header) / sizeof(bundle::SectionEntry))
    return;
  std::vector<bundle::SectionEntry> table(header.sections);
  char *stored = bytes.data() + sizeof header;
  std::memcpy(table.data(), stored, table.size() * sizeof(bundle::SectionEntry));
  auto sum = [&](bundle::SectionEntry &entry) {
    if (entry.offset <= bytes.size() && entry.size <= bytes.size() - entry.offset)
      entry.checksum = bundle::checksum(bytes.data() + entry.offset, entry.size);
  };
  std::for_each(table.begin(), table.end(), sum);
  resealPrograms(bytes, table);
  sum(table[0]);
  header.checksum = bundle::headerChecksum(header, table.data());
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(stored, table.data(), table.size() * sizeof(bundle::SectionEntry));
}

std::string gc3::test::checkBundle(std::string bytes, unsigned &accepted) {
  reseal(bytes);
  std::vector<imports::BundledProgram> programs;
  bool good = imports::readBundle(bytes, smallBudgets, programs).empty();
  for (const imports::BundledProgram &one : programs) {
    accepted += good;
    verify::Verdict verdict = verify::verify(one.program, {});
    if (!verdict.holds())
      continue;
    std::string again =
        emit::writeBundle({{&one.program, verdict.proven, verdict.minSlots, verdict.wholeSlots}}, "test");
    std::vector<imports::BundledProgram> read;
    if (std::string problem = imports::readBundle(again, smallBudgets, read); !problem.empty())
      return problem + ": " + print(one.program);
  }
  return {};
}
