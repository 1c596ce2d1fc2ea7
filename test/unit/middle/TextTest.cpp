// SPDX-License-Identifier: Apache-2.0
// Tests that printed IRs read back unchanged. A mutated text is rejected, or prints identically after it is read and
// printed once.
#include "CheckText.h"
#include "RandomProgram.h"
#include "gc3/IR/Print.h"
#include "gc3/IR/Read.h"
#include "gc3/Lower/Lower.h"
#include "gc3/Schedule/Schedule.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <gtest/gtest.h>
#include <set>

using namespace gc3;
using gc3::test::text;

namespace {

struct Compiled {
  ir::InstructionDag dag;
  ir::Program program;
};

Compiled compile(const ir::ChunkDag &chunks, uint32_t slots) {
  SourceManager sources;
  Diagnostics diags(sources);
  auto dag = lower::lower(chunks, {}, diags);
  auto program = schedule::schedule(*dag, {.fifoSlots = slots}, diags);
  return {std::move(*dag), std::move(*program)};
}

/// Removes directives that no operation uses. The printed text does not contain them, but the scheduler would reserve
/// their channels.
void dropUnusedDirectives(ir::ChunkDag &chunks) {
  auto info = std::make_shared<ir::ProgramInfo>(*chunks.info);
  std::vector<ir::Directive> unused = info->directives;
  for (const ir::ChunkOp &op : chunks.ops)
    unused[op.directive] = {};
  for (size_t i = 0; i != unused.size(); ++i)
    if (unused[i].channel >= 0)
      info->directives[i] = {};
  chunks.info = info;
}

template <typename IR, typename Read>
IR readOne(Read read, const std::string &printed) {
  SourceManager sources;
  Diagnostics diags(sources);
  std::vector<IR> all = read(sources, diags, "text", printed, ir::ReadOptions());
  if (all.size() != 1) {
    std::string errors;
    llvm::raw_string_ostream out(errors);
    diags.print(out, false);
    ADD_FAILURE() << printed << out.str();
    return {};
  }
  return std::move(all[0]);
}

using Runs = std::vector<std::array<int64_t, 5>>;

/// Returns the runs of values `first` to `end` - 1.
Runs runsOf(const ir::Postcondition &post, uint32_t first, uint32_t end) {
  Runs all;
  for (uint32_t i = post.valueBegin[first]; i != post.valueBegin[end]; ++i) {
    const ir::Run &run = post.runs[i];
    all.push_back({run.rank, run.index, run.rankStride, run.indexStride, run.length});
  }
  return all;
}

/// Makes random collectives. Some have regular promises, others irregular ones.
class RandomCollective {
public:
  explicit RandomCollective(std::mt19937_64 &random) : random(random) {}

  ir::Collective run() {
    collective.name = "promises";
    collective.ranks = 1 + below(6);
    collective.input = {1 + below(3), 1 + below(4)};
    collective.output = {1 + below(3), 1 + below(4)};
    bool everywhere = below(2) != 0;
    for (uint32_t rank = 0; rank != collective.ranks; ++rank) {
      collective.hasInput.push_back(1);
      collective.hasOutput.push_back(everywhere || below(4) != 0);
    }
    collective.aliases.resize(collective.ranks);
    uint32_t values = 1 + below(below(2) ? 30 : 3);
    for (uint32_t i = 0; i != values; ++i)
      addValue();
    std::vector<uint32_t> wanted;
    uint32_t width = collective.output.total();
    bool sameRows = below(2) != 0;
    for (uint32_t entry = 0; entry != collective.ranks * width; ++entry)
      wanted.push_back(sameRows && entry >= width && below(20) ? wanted[entry - width]
                                                               : below(collective.post.valueCount() + 1));
    ir::setRows(collective, [&](uint32_t rank) { return llvm::ArrayRef(wanted).slice(size_t(rank) * width, width); });
    return std::move(collective);
  }

private:
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(random() % bound); }

  ir::Run makeRun() {
    bool alongRanks = below(2) != 0, backwards = below(4) == 0;
    uint32_t length = 1 + below(alongRanks ? collective.ranks : collective.input.total());
    uint32_t first = backwards ? length - 1 : 0;
    int32_t stride = length == 1 ? 0 : backwards ? -1 : 1;
    if (alongRanks)
      return {first, below(collective.input.total()), stride, 0, length};
    return {below(collective.ranks), first, 0, stride, length};
  }
  /// Adds a value if it is new, because the text identifies values by their runs.
  void addValue() {
    ir::Postcondition &post = collective.post;
    size_t before = post.runs.size();
    for (uint32_t terms = 1 + below(2); terms != 0; --terms)
      post.runs.push_back(makeRun());
    post.valueBegin.push_back(static_cast<uint32_t>(post.runs.size()));
    uint32_t value = post.valueCount() - 1;
    if (known.insert(runsOf(post, value, value + 1)).second)
      return;
    post.runs.resize(before);
    post.valueBegin.pop_back();
  }

  std::mt19937_64 &random;
  ir::Collective collective;
  std::set<Runs> known;
};

} // namespace

TEST(Text, randomProgramsReadBack) {
  std::mt19937_64 random(17);
  for (uint32_t i = 0; i != 300; ++i) {
    ir::ChunkDag chunks = test::randomProgram(random, {.maxRanks = 1 + i % 7, .operations = 3 + i % 50});
    dropUnusedDirectives(chunks);
    Compiled compiled = compile(chunks, 1 + i % 4);
    std::string dagText = text(compiled.dag);
    auto dag = readOne<ir::InstructionDag>(ir::readInstructionDag, dagText);
    EXPECT_EQ(text(dag), dagText);
    std::string programText = text(compiled.program);
    auto program = readOne<ir::Program>(ir::readGC3IR, programText);
    EXPECT_EQ(text(program), programText);
    SourceManager sources;
    Diagnostics diags(sources);
    EXPECT_EQ(text(*schedule::schedule(dag, {.fifoSlots = 1 + i % 4}, diags)), programText);
  }
}

// After printing and reading, a promise must have identical tables, whether it is regular or irregular.
TEST(Text, postconditionsReadBack) {
  std::mt19937_64 random(5);
  for (uint32_t i = 0; i != 3000; ++i) {
    auto info = std::make_shared<ir::ProgramInfo>();
    info->name = "x";
    info->collective = RandomCollective(random).run();
    const ir::Collective &collective = info->collective;
    ir::Program program;
    for (uint32_t rank = 0; rank != collective.ranks; ++rank) {
      program.bufferSizes.insert(program.bufferSizes.end(), {collective.size(rank, 0), collective.size(rank, 1)});
      program.rankBegin.push_back(0);
    }
    program.info = info;
    std::string printed = text(program);
    auto read = readOne<ir::Program>(ir::readGC3IR, printed);
    ASSERT_EQ(text(read), printed);
    const ir::Postcondition &a = collective.post, &b = read.info->collective.post;
    ASSERT_EQ(a.valueBegin, b.valueBegin) << printed;
    ASSERT_EQ(runsOf(a, 0, a.valueCount()), runsOf(b, 0, b.valueCount())) << printed;
    ASSERT_EQ(a.rowOfRank, b.rowOfRank) << printed;
    ASSERT_EQ(a.rowBegin, b.rowBegin) << printed;
    ASSERT_EQ(a.rows, b.rows) << printed;
  }
}

namespace {

/// Makes edits that resemble typing errors and damaged files.
class Mutator {
public:
  explicit Mutator(std::mt19937_64 &random) : random(random) {}

  std::string mutate(std::string text) {
    for (uint32_t edits = 1 + below(3); edits != 0 && !text.empty(); --edits)
      edit(text);
    return text;
  }

private:
  uint32_t below(size_t bound) { return static_cast<uint32_t>(random() % bound); }

  void edit(std::string &text) {
    switch (below(5)) {
    case 0: number(text); break;
    case 1: lines(text); break;
    case 2: text[below(text.size())] = static_cast<char>(below(256)); break;
    case 3: text.erase(below(text.size()), 1 + below(8)); break;
    case 4: word(text); break;
    }
  }
  void number(std::string &text) {
    size_t at = text.find_first_of("0123456789", below(text.size()));
    if (at == std::string::npos)
      return;
    static constexpr const char *numbers[] = {"0", "1", "2", "3", "7", "65536", "4294967295", "99999999999999999999"};
    size_t end = text.find_first_not_of("0123456789", at);
    text.replace(at, end - at, numbers[below(std::size(numbers))]);
  }
  /// Removes, duplicates or moves a line.
  void lines(std::string &text) {
    auto lineAt = [&](size_t at) { return text.rfind('\n', at) == std::string::npos ? 0 : text.rfind('\n', at) + 1; };
    size_t begin = lineAt(below(text.size()));
    size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    if (begin >= end)
      return;
    std::string line = text.substr(begin, end - begin);
    if (below(3) != 0)
      text.erase(begin, end - begin);
    if (below(3) != 0 && !text.empty())
      text.insert(lineAt(below(text.size())), line);
  }
  void word(std::string &text) {
    static constexpr const char *words[] = {
        "send ", "recv ",   "rrcs ",  "copy ", "input",      "output[0]", " after 0.0",  "ensures ", "rank ", "tb ",
        "-> ",   "(",       "..",     ", ",    " channel 1", " - r ",     "* c ",        "reduce(",  "%0",    "~%1",
        "\n",    "scratch", "// x\n", ": ",    "for q in ",  "==",        " parallel 2", "sends "};
    text.insert(below(text.size()), words[below(std::size(words))]);
  }

  std::mt19937_64 &random;
};

} // namespace

TEST(Text, mutantsAreRefusedOrPrintTheSame) {
  std::mt19937_64 random(23);
  Mutator mutator(random);
  unsigned accepted = 0;
  for (uint32_t i = 0; i != 150; ++i) {
    ir::ChunkDag chunks = test::randomProgram(random, {.maxRanks = 2 + i % 3, .operations = 2 + i % 12});
    Compiled compiled = compile(chunks, 2);
    for (const std::string &original : {text(compiled.program), text(compiled.dag)})
      for (uint32_t k = 0; k != 100; ++k) {
        std::string mutant = mutator.mutate(original);
        ASSERT_EQ(test::checkText(mutant, accepted), "") << mutant;
      }
  }
  EXPECT_GT(accepted, 1000u); // mutants must get past the reader
}
