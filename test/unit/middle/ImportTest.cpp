// SPDX-License-Identifier: Apache-2.0
// Tests imports of MSCCL XML and of bundles. A program that gc3 has exported comes back unchanged. A mutated file is
// rejected, or accepted as a consistent program.
#include "CheckImport.h"
#include "RandomProgram.h"
#include "gc3/Emit/Bundle.h"
#include "gc3/Emit/MscclXml.h"
#include "gc3/Import/Bundle.h"
#include "gc3/Import/MscclXml.h"
#include "gc3/Lower/Lower.h"
#include "gc3/Schedule/Schedule.h"
#include "gc3/Sema/Sema.h"
#include "gc3/Verify/Verify.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace gc3;
using gc3::test::text;

static ir::Program compile(const ir::ChunkDag &dag) {
  SourceManager sources;
  Diagnostics diags(sources);
  auto instructions = lower::lower(dag, {}, diags);
  return *schedule::schedule(*instructions, {.fifoSlots = 2, .wholeMessages = false}, diags);
}

/// Returns the XML, or an empty string if MSCCL files can't express the program.
static std::string exportXml(const ir::Program &program) {
  SourceManager sources;
  Diagnostics diags(sources);
  std::string xml;
  llvm::raw_string_ostream out(xml);
  emit::writeMscclXml(out, program, emit::MscclDialect::Msccl, diags);
  return out.str();
}

/// Concatenates all scratch buffers of a rank into one, as MSCCL files do.
static ir::Program withOneScratchBuffer(const ir::Program &program) {
  ir::Program result = program;
  uint32_t buffers = program.info->bufferCount();
  std::vector<uint32_t> begin(size_t(program.ranks()) * buffers); // offset in the scratch buffer, by rank and buffer
  result.bufferSizes.clear();
  bool hasScratch = false;
  for (uint32_t rank = 0; rank != program.ranks(); ++rank)
    for (uint32_t buffer = 0, sum = 0; buffer != buffers; ++buffer) {
      begin[rank * buffers + buffer] = sum;
      sum += buffer < ir::FirstScratchBuffer ? 0 : program.bufferSize(rank, static_cast<ir::BufferId>(buffer));
      hasScratch |= sum != 0;
    }
  for (uint32_t rank = 0; rank != program.ranks(); ++rank) {
    result.bufferSizes.push_back(program.bufferSize(rank, ir::InputBuffer));
    result.bufferSizes.push_back(program.bufferSize(rank, ir::OutputBuffer));
    uint32_t last = buffers - 1;
    if (hasScratch)
      result.bufferSizes.push_back(begin[rank * buffers + last] +
                                   program.bufferSize(rank, static_cast<ir::BufferId>(last)));
  }
  for (const ir::ThreadBlock &block : program.threadBlocks)
    for (uint32_t i = block.firstStep; i != block.firstStep + block.stepCount; ++i) {
      ir::Step &step = result.steps[i];
      for (auto [buffer, index] : {std::pair(&step.srcBuffer, &step.srcIndex), {&step.dstBuffer, &step.dstIndex}})
        if (*buffer >= ir::FirstScratchBuffer) {
          *index += begin[block.rank * buffers + *buffer];
          *buffer = ir::FirstScratchBuffer;
        }
    }
  auto info = std::make_shared<ir::ProgramInfo>(*program.info);
  info->scratchNames.assign(hasScratch, "scratch");
  result.info = info;
  return result;
}

// Compares the whole GC3-IR: steps, slots, waits, and the promises of the exported collective.
TEST(Import, exportedProgramsComeBack) {
  std::mt19937_64 random(29);
  uint32_t exported = 0, inPlace = 0, cut = 0;
  for (uint32_t i = 0; i != 600; ++i) {
    ir::Program program = compile(test::randomProgram(random, {.maxRanks = 1 + i % 7, .operations = 3 + i % 60}));
    std::string xml = exportXml(program);
    if (xml.empty())
      continue;
    ++exported;
    cut += program.subdivision != 1;
    SourceManager sources;
    Diagnostics diags(sources);
    auto algorithm = imports::readMscclXml(sources, diags, "xml", xml, 1u << 20);
    ASSERT_TRUE(algorithm) << xml;
    EXPECT_NE(algorithm->inPlace, algorithm->outOfPlace);
    inPlace += algorithm->inPlace;
    auto imported = imports::programOf(*algorithm, program.info->collective, program.fifoSlots, diags);
    ASSERT_TRUE(imported) << xml;
    ASSERT_EQ(text(*imported), text(withOneScratchBuffer(program))) << xml;
    ASSERT_EQ(exportXml(*imported), xml);
  }
  EXPECT_GT(exported, 100u);
  EXPECT_GT(inPlace, 20u);
  EXPECT_GT(cut, 20u);
}

TEST(Import, exportedExamplesComeBack) {
  uint32_t exported = 0;
  for (const auto &entry : std::filesystem::directory_iterator(GC3_EXAMPLES)) {
    if (entry.path().extension() != ".gc3")
      continue;
    SCOPED_TRACE(entry.path());
    std::ifstream file(entry.path());
    std::string source((std::istreambuf_iterator<char>(file)), {});
    SourceManager sources;
    Diagnostics diags(sources);
    for (const ir::ChunkDag &dag : sema::analyze(sources, diags, entry.path().string(), source, {})) {
      ir::Program program = compile(dag);
      std::string xml = exportXml(program);
      if (xml.empty())
        continue;
      ++exported;
      auto algorithm = imports::readMscclXml(sources, diags, "xml", xml, 1u << 20);
      ASSERT_TRUE(algorithm);
      auto imported = imports::programOf(*algorithm, program.info->collective, program.fifoSlots, diags);
      ASSERT_TRUE(imported);
      EXPECT_EQ(text(*imported), text(withOneScratchBuffer(program)));
      EXPECT_EQ(exportXml(*imported), xml);
      EXPECT_TRUE(verify::verify(*imported, {}).holds());
    }
    EXPECT_FALSE(diags.hasErrors());
  }
  EXPECT_GT(exported, 15u);
}

TEST(Import, bundledProgramsComeBack) {
  std::mt19937_64 random(31);
  for (uint32_t i = 0; i != 200; ++i) {
    ir::Program program = compile(test::randomProgram(random, {.maxRanks = 1 + i % 7, .operations = 3 + i % 60}));
    verify::Verdict verdict = verify::verify(program, {});
    emit::VerifiedProgram verified{&program, verdict.proven, verdict.minSlots, verdict.wholeSlots};
    for (uint64_t point = 0; point != i % 3; ++point)
      verified.times.push_back({i + point + 1, 0.5 * i});
    std::string bytes = emit::writeBundle({verified}, "test");
    std::vector<imports::BundledProgram> read;
    ASSERT_EQ(imports::readBundle(bytes, {}, read).message, "");
    ASSERT_EQ(read.size(), 1u);
    const imports::BundledProgram &own = read[0];
    EXPECT_EQ(text(own.program), text(program));
    EXPECT_EQ(own.verified, verdict.proven);
    EXPECT_EQ(own.minSlots, verdict.minSlots);
    EXPECT_EQ(own.wholeSlots, verdict.wholeSlots);
    EXPECT_EQ(emit::writeBundle({{&own.program, own.verified, own.minSlots, own.wholeSlots, own.times}}, "test"),
              bytes);
  }
}

TEST(Import, bundlesLargerThanTheBudgetAreRefused) {
  std::mt19937_64 random(37);
  ir::Program program = compile(test::randomProgram(random, {}));
  std::string bytes = emit::writeBundle({{&program, 0, 0, true}}, "test");
  std::vector<imports::BundledProgram> read;
  imports::BundleProblem slots = imports::readBundle(bytes, {.maxSlots = 1}, read);
  EXPECT_EQ(slots.message, "program 0: more than 1 slot in all; --max-slots allows more");
  EXPECT_EQ(slots.id, DiagId::SlotBudget);
  imports::BundleProblem contributions = imports::readBundle(bytes, {.maxContributions = 0}, read);
  EXPECT_EQ(contributions.message,
            "program 0: its outputs hold more than 0 input chunks in all; --max-steps allows more");
  EXPECT_EQ(contributions.id, DiagId::StepBudget);
  EXPECT_TRUE(read.empty());
}

namespace {

/// Replaces the values of attributes, and removes or repeats lines.
class Mutator {
public:
  explicit Mutator(std::mt19937_64 &random) : random(random) {}

  std::string mutate(std::string text) {
    for (size_t edits = 1 + below(2); edits != 0 && text.size() > 8; --edits)
      below(4) == 0 ? line(text) : value(text);
    return text;
  }

private:
  size_t below(size_t bound) { return random() % bound; }
  void value(std::string &text) {
    static constexpr const char *values[] = {"0", "1",   "2",  "-1", "3",         "65536", "99999999999999999999", "s",
                                             "o", "nop", "re", "LL", "allreduce", "&amp;", "\"/><step s=\"0"};
    size_t begin = text.find('"', below(text.size()));
    size_t end = begin == std::string::npos ? begin : text.find('"', begin + 1);
    if (end != std::string::npos)
      text.replace(begin + 1, end - begin - 1, values[below(std::size(values))]);
  }
  void line(std::string &text) {
    size_t begin = text.find('\n', below(text.size()));
    size_t end = begin == std::string::npos ? begin : text.find('\n', begin + 1);
    if (end == std::string::npos)
      return;
    std::string line = text.substr(begin, end - begin);
    text.erase(begin, end - begin);
    for (size_t times = below(3); times != 0; --times)
      text.insert(begin, line);
  }

  std::mt19937_64 &random;
};

} // namespace

TEST(Import, mutantsAreRefusedOrSound) {
  std::mt19937_64 random(41);
  Mutator mutator(random);
  unsigned accepted = 0;
  for (uint32_t i = 0; i != 100; ++i) {
    ir::Program program = compile(test::randomProgram(random, {.maxRanks = 2 + i % 3, .operations = 2 + i % 12}));
    std::string xml = exportXml(program);
    std::string bytes = emit::writeBundle({{&program, 0, 0, true}}, "test");
    for (uint32_t k = 0; k != 120; ++k) {
      if (!xml.empty()) {
        std::string mutant = mutator.mutate(xml);
        ASSERT_EQ(test::checkMscclXml(mutant, accepted), "") << mutant;
      }
      std::string mutant = bytes;
      mutant[32 + random() % (bytes.size() - 32)] ^= static_cast<char>(1u << random() % 8);
      ASSERT_EQ(test::checkBundle(mutant, accepted), "");
    }
  }
  EXPECT_GT(accepted, 1000u); // mutants must get past the readers
}
