// SPDX-License-Identifier: Apache-2.0
// Tests Verify with mutants: makes small changes to programs, and checks each mutant with Verify and with the host
// executor. Prints how well they agree (docs/verification-methods.md). Exit status: 0 if they agree; 1 if they disagree
// or if no mutant was checked.
#include "RandomProgram.h"
#include "Table.h"
#include "gc3/IR/Read.h"
#include "gc3/Lower/Lower.h"
#include "gc3/Schedule/Schedule.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include <unordered_set>

using namespace gc3;
using namespace gc3::mutation;

namespace {

llvm::cl::list<std::string> files(llvm::cl::Positional, llvm::cl::desc("FILE.gc3-ir..."));
llvm::cl::opt<unsigned> mutantsPerKind("mutants", llvm::cl::desc("of each kind, of each program"), llvm::cl::init(10));
llvm::cl::opt<unsigned> randomPrograms("random", llvm::cl::desc("programs made at random, besides the files"),
                                       llvm::cl::init(0));
llvm::cl::opt<unsigned> seed("seed", llvm::cl::desc("of all that is random"), llvm::cl::init(1));
llvm::cl::opt<unsigned> samples("samples", llvm::cl::desc("mutants to print that are rejected and not shown wrong"),
                                llvm::cl::init(0));
llvm::cl::opt<std::string> only("only", llvm::cl::desc("kind of mutants to make"));

class Mutation {
public:
  Mutation() : kinds(allKinds()), tallies(kinds.size()) {
    if (!only.empty())
      llvm::erase_if(kinds, [](const Kind &kind) { return only != kind.name; });
  }

  /// Checks mutants of a program. The table has a row for `name`, which consecutive programs of the same name share.
  void mutate(const ir::Program &program, const std::string &name);
  void print() const;
  bool agreed() const { return sum().disagreements == 0; }
  /// Returns true if the executor has shown that some mutant gives a wrong result. If it never does, its agreement with
  /// Verify on accepted mutants proves nothing.
  bool shownWrong() const { return sum().rejectedAnd(Shown::Wrong) != 0; }

private:
  void report(const Kind &kind, const ir::Program &mutant, const CheckResult &result);
  Tally sum() const {
    Tally all;
    for (const Tally &tally : tallies)
      all.add(tally);
    return all;
  }

  std::vector<Kind> kinds;
  std::vector<Tally> tallies; // for each kind
  std::vector<ProgramTally> byProgram;
  uint64_t programs = 0;
  uint64_t printed = 0;
};

} // namespace

/// Prints a mutant and its result if Verify and the executor disagree. Also prints up to `samples` mutants that Verify
/// rejects and that the executor does not show to be wrong.
void Mutation::report(const Kind &kind, const ir::Program &mutant, const CheckResult &result) {
  bool sample = result.verdict != Verdict::Accepted && result.shown == Shown::Nothing && printed < samples;
  if (result.disagreement.empty() && !sample)
    return;
  printed += sample;
  llvm::errs() << kind.name << ": the mutant "
               << (result.disagreement.empty() ? "is rejected, and not shown to be wrong" : result.disagreement) << '\n'
               << (result.finding.empty() ? "" : "Verify: " + result.finding + "\n") << test::text(mutant) << '\n';
}

/// Checks each different mutant only once, even if several kinds make it.
void Mutation::mutate(const ir::Program &program, const std::string &name) {
  static constexpr uint32_t triesPerMutant = 4;
  MutantChecker checker(program, {});
  std::unordered_set<std::string> known = {test::text(program)};
  host::Random random(seed + 1000003 * programs++);
  if (byProgram.empty() || byProgram.back().name != name)
    byProgram.push_back({name, {}});
  for (size_t i = 0; i != kinds.size(); ++i)
    for (uint32_t made = 0, tries = 0; made != mutantsPerKind && tries != triesPerMutant * mutantsPerKind; ++tries) {
      Draft draft(program);
      std::optional<uint32_t> rank = kinds[i].mutate(draft, random);
      if (!rank)
        break;
      ir::Program mutant = draft.program();
      if (!known.insert(test::text(mutant)).second)
        continue;
      ++made;
      CheckResult result = checker.check(mutant, *rank, random.next());
      tallies[i].add(result);
      byProgram.back().tally.add(result);
      report(kinds[i], mutant, result);
    }
}

void Mutation::print() const {
  llvm::outs() << sum().mutants() << " mutants of " << programs << " programs, seed " << seed << "\n\n";
  printKinds(llvm::outs(), kinds, tallies);
  llvm::outs() << '\n';
  printAgreement(llvm::outs(), sum());
  llvm::outs() << '\n';
  printPrograms(llvm::outs(), byProgram);
}

static bool mutateFile(Mutation &mutation, const std::string &name) {
  SourceManager sources;
  Diagnostics diags(sources);
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(name, true);
  if (!buffer) {
    llvm::errs() << name << ": " << buffer.getError().message() << '\n';
    return false;
  }
  for (const ir::Program &program : ir::readGC3IR(sources, diags, name, (*buffer)->getBuffer(), {}))
    mutation.mutate(program, program.info->name + ", " + std::to_string(program.ranks()) + " ranks");
  diags.print(llvm::errs(), false);
  return !diags.hasErrors();
}

static void mutateRandom(Mutation &mutation, uint32_t number) {
  std::mt19937_64 random(seed + number);
  ir::ChunkDag dag = test::randomProgram(random, {.maxRanks = 2 + number % 4, .operations = 4 + number % 24});
  if (number % 4 == 3) { // LL needs more waits, because a message orders only its own data
    auto info = std::make_shared<ir::ProgramInfo>(*dag.info);
    info->protocol = ir::Protocol::LL;
    dag.info = info;
  }
  SourceManager sources;
  Diagnostics diags(sources);
  auto instructions = lower::lower(dag, {.fuse = number % 3 != 0}, diags);
  auto program = schedule::schedule(*instructions, {.fifoSlots = 1 + number % 8}, diags);
  mutation.mutate(*program, "random programs");
}

int main(int argc, char **argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv, "Tests the verifier by mutation\n");
  Mutation mutation;
  bool readAll = true;
  for (const std::string &name : files)
    readAll &= mutateFile(mutation, name);
  for (uint32_t i = 0; i != randomPrograms; ++i)
    mutateRandom(mutation, i);
  mutation.print();
  if (!mutation.shownWrong())
    llvm::errs() << "mutation-table: no mutant was shown to be wrong, so nothing has been tested\n";
  return readAll && mutation.agreed() && mutation.shownWrong() ? 0 : 1;
}
