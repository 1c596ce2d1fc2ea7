// SPDX-License-Identifier: Apache-2.0
// The option table. Groups: output, input, checks, limits.
#include "gc3/Driver/Options.h"
#include "Version.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <limits>

using namespace gc3;
using namespace gc3::driver;
namespace cl = llvm::cl;

namespace {

/// The options live as long as the parse: nothing global.
struct Table {
  cl::OptionCategory output{"Output"};
  cl::OptionCategory input{"Input"};
  cl::OptionCategory checks{"Checks"};
  cl::OptionCategory limits{"Limits"};

  cl::list<std::string> files{cl::Positional, cl::desc("FILE.gc3"), cl::cat(input)};
  cl::opt<From> from{"from", cl::desc("What FILE holds:"),
                     cl::values(clEnumValN(From::Source, "gc3", "a program, as text in the language (default)"),
                                clEnumValN(From::InstructionDag, "inst-dag", "what --emit=inst-dag printed"),
                                clEnumValN(From::GC3IR, "gc3-ir", "what --emit=gc3-ir printed"),
                                clEnumValN(From::MscclXml, "msccl-xml", "an algorithm for the MSCCL runtimes")),
                     cl::init(From::Source), cl::cat(input)};
  cl::opt<bool> importMsccl{"import-msccl", cl::desc("Short for --from=msccl-xml"), cl::cat(input)};
  cl::opt<std::string> collective{
      "collective",
      cl::desc("What MSCCL XML implements, if not what it says: a standard collective, with arguments that the file "
               "leaves open, or one of a file: 'broadcast(root = 2)', 'FILE.gc3:NAME(ARGUMENTS)'"),
      cl::value_desc("name"), cl::cat(input)};
  cl::list<std::string> defines{"D", cl::desc("Set a param of the program"), cl::value_desc("name=value"), cl::Prefix,
                                cl::cat(input)};
  cl::list<std::string> includes{"I", cl::desc("Search imports in this directory too"), cl::value_desc("dir"),
                                 cl::Prefix, cl::cat(input)};
  cl::opt<std::string> program{"program", cl::desc("Compile this program of the file only"), cl::value_desc("name"),
                               cl::cat(input)};

  cl::opt<std::string> out{"o",
                           cl::desc("Write here; - is standard output (default: text there, a bundle to FILE.gc3b, "
                                    "a page to FILE.html, in the working directory)"),
                           cl::value_desc("file"), cl::cat(output)};
  cl::opt<Emit> emit{"emit", cl::desc("What to write:"),
                     cl::values(clEnumValN(Emit::Ast, "ast", "the syntax tree, as canonical source"),
                                clEnumValN(Emit::ChunkDag, "chunk-dag", "the Chunk DAG: operations on chunks"),
                                clEnumValN(Emit::InstructionDag, "inst-dag", "the Instruction DAG: sends and receives"),
                                clEnumValN(Emit::GC3IR, "gc3-ir", "GC3-IR: thread blocks and their steps"),
                                clEnumValN(Emit::Bundle, "bundle", "a bundle for the runtime (default)"),
                                clEnumValN(Emit::MscclXml, "msccl-xml", "an algorithm for the MSCCL runtimes"),
                                clEnumValN(Emit::Dot, "dot", "a picture of one program for Graphviz: see --graph"),
                                clEnumValN(Emit::Html, "html", "a page that plays one program in a browser")),
                     cl::init(Emit::Bundle), cl::cat(output)};
  cl::opt<emit::MscclDialect> mscclDialect{
      "msccl-dialect", cl::desc("Whose XML --emit=msccl-xml writes:"),
      cl::values(clEnumValN(emit::MscclDialect::Msccl, "msccl", "microsoft/msccl (default)"),
                 clEnumValN(emit::MscclDialect::Rccl, "rccl", "RCCL, and msccl-executor-nccl")),
      cl::init(emit::MscclDialect::Msccl), cl::cat(output)};
  cl::opt<Emit> graph{"graph", cl::desc("What --emit=dot draws:"),
                      cl::values(clEnumValN(Emit::ChunkDag, "chunk-dag", "the Chunk DAG"),
                                 clEnumValN(Emit::InstructionDag, "inst-dag", "the Instruction DAG"),
                                 clEnumValN(Emit::GC3IR, "gc3-ir", "GC3-IR (default)")),
                      cl::init(Emit::GC3IR), cl::cat(output)};
  cl::opt<bool> dump{"dump", cl::desc("Print a bundle (FILE.gc3b) as text"), cl::cat(output)};
  cl::opt<bool> listStd{"list-std", cl::desc("List the standard library; takes no input file"), cl::cat(output)};
  cl::opt<bool> dependencies{
      "MD", cl::desc("Write a rule for make, too: the output depends on FILE.gc3 and its imports"), cl::cat(output)};
  cl::opt<std::string> dependencyFile{"MF", cl::desc("Where -MD writes (default: the output with .d for its suffix)"),
                                      cl::value_desc("file"), cl::Prefix, cl::cat(output)};
  cl::opt<bool> phonyDependencies{"MP", cl::desc("With -MD, a rule for each file: make goes on when one was removed"),
                                  cl::cat(output)};
  cl::opt<DiagnosticsFormat> diagnostics{
      "diagnostics", cl::desc("How to write errors and remarks:"),
      cl::values(clEnumValN(DiagnosticsFormat::Text, "text", "for people (default)"),
                 clEnumValN(DiagnosticsFormat::Json, "json", "for programs: a JSON object a line")),
      cl::init(DiagnosticsFormat::Text), cl::cat(output)};
  cl::opt<bool> timeReport{"time-report", cl::desc("Say how long each stage took"), cl::cat(output)};

  cl::opt<VerifyMode> verify{
      "verify", cl::desc("How to verify what is emitted:"),
      cl::values(clEnumValN(VerifyMode::Fast, "fast", "compare 128-bit hashes of contributions (default)"),
                 clEnumValN(VerifyMode::Exact, "exact", "compare the contributions themselves"),
                 clEnumValN(VerifyMode::Off, "off", "do not verify")),
      cl::init(VerifyMode::Fast), cl::cat(checks)};
  cl::opt<bool> verifyOnly{"verify-only",
                           cl::desc("Print the verdict of each file and write nothing; takes any number of programs, "
                                    "IRs as text, MSCCL XML and bundles"),
                           cl::cat(checks)};
  cl::opt<unsigned> errorLimit{"error-limit", cl::desc("Stop after this many errors, 0 for no limit (default 20)"),
                               cl::value_desc("n"), cl::init(20), cl::cat(checks)};

  cl::opt<bool> noFusion{"no-fusion", cl::desc("Keep every receive and send apart, and every local copy"),
                         cl::cat(limits)};
  cl::opt<unsigned> fifoSlots{"fifo-slots", cl::desc("Messages in flight per connection, 1 to 65536 (default 8)"),
                              cl::value_desc("n"), cl::init(8), cl::cat(limits)};
  cl::opt<unsigned> maxThreadBlocks{"max-threadblocks", cl::desc("Thread blocks per rank (default 108)"),
                                    cl::value_desc("n"), cl::init(108), cl::cat(limits)};
  cl::opt<unsigned> maxPicture{"max-picture",
                               cl::desc("Nodes of a graph (default 1000), steps and slots of a page (default 20000)"),
                               cl::value_desc("n"), cl::init(1000), cl::cat(limits)};
  cl::opt<unsigned long long> maxOps{
      "max-ops", cl::desc("Chunk operations that a program may have, with 8 instructions each (default 16Mi)"),
      cl::value_desc("n"), cl::init(16ull << 20), cl::cat(limits)};
  cl::opt<unsigned long long> maxSteps{"max-steps", cl::desc("Evaluation steps before giving up (default 250 million)"),
                                       cl::value_desc("n"), cl::init(250000000), cl::cat(limits)};
  cl::opt<unsigned long long> maxSlots{"max-slots", cl::desc("Chunks of all buffers of all ranks (default 128Mi)"),
                                       cl::value_desc("n"), cl::init(128ull << 20), cl::cat(limits)};
};

} // namespace

static bool reject(const std::string &message) {
  llvm::errs() << "gc3c: " << message << '\n';
  return false;
}

static bool checkListStd(const Table &table) {
  if (!table.files.empty() || !table.defines.empty() || table.dump || table.emit.getNumOccurrences() ||
      table.from.getNumOccurrences() || table.dependencies)
    return reject("--list-std takes no input file, and neither --emit, --from, --dump, -D nor -MD");
  return true;
}

static bool checkPicture(const Table &table) {
  bool picture = table.emit == Emit::Dot || table.emit == Emit::Html;
  if (table.graph.getNumOccurrences() != 0 && table.emit != Emit::Dot)
    return reject("--graph says what --emit=dot draws, and needs it");
  if (table.maxPicture.getNumOccurrences() != 0 && !picture)
    return reject("--max-picture goes with --emit=dot and --emit=html");
  if (picture && table.verify == VerifyMode::Off)
    return reject("pictures are of verified programs: leave out --verify=off");
  return true;
}

static bool checkRanges(const Table &table) {
  if (table.fifoSlots < 1 || table.fifoSlots > 65536)
    return reject("--fifo-slots takes 1 to 65536, not " + std::to_string(table.fifoSlots));
  if (table.maxThreadBlocks < 1)
    return reject("--max-threadblocks takes at least 1");
  if (table.maxOps >= 1ull << 31)
    return reject("--max-ops takes less than 2^31");
  if (table.maxSlots >= std::numeric_limits<uint32_t>::max())
    return reject("--max-slots takes less than 2^32");
  return true;
}

static bool checkInput(const Table &table) {
  if (table.listStd)
    return checkListStd(table);
  if (table.files.empty())
    return reject("no input file; gc3c --help says more");
  if (table.files.size() > 1 && !table.verifyOnly)
    return reject("one input file, not " + std::to_string(table.files.size()) + "; --verify-only takes several");
  if (table.mscclDialect.getNumOccurrences() && table.emit != Emit::MscclXml)
    return reject("--msccl-dialect goes with --emit=msccl-xml");
  if (table.dump && (table.emit.getNumOccurrences() || !table.defines.empty()))
    return reject("--dump prints a bundle, and takes neither --emit nor -D");
  return true;
}

static bool checkDependencies(const Table &table) {
  bool named = table.dependencyFile.getNumOccurrences() != 0;
  if (table.dump && table.dependencies)
    return reject("--dump prints a bundle, and takes no -MD");
  if (!table.dependencies && named)
    return reject("-MF says where -MD writes; give -MD, too");
  if (!table.dependencies && table.phonyDependencies)
    return reject("-MP adds to what -MD writes; give -MD, too");
  if (named && table.dependencyFile.empty())
    return reject("-MF takes a file");
  return true;
}

/// What it finds out by itself, and what it does not do, has no options.
static bool checkVerifyOnly(const Table &table) {
  if (!table.verifyOnly)
    return true;
  for (auto [option, occurrences] : {std::pair("--from", table.from.getNumOccurrences()),
                                     {"--import-msccl", table.importMsccl.getNumOccurrences()},
                                     {"--emit", table.emit.getNumOccurrences()},
                                     {"-o", table.out.getNumOccurrences()},
                                     {"--dump", table.dump.getNumOccurrences()},
                                     {"--time-report", table.timeReport.getNumOccurrences()},
                                     {"-MD", table.dependencies.getNumOccurrences()}})
    if (occurrences != 0)
      return reject("--verify-only writes verdicts of files whose kinds it finds out, and takes no " +
                    std::string(option));
  return table.verify != VerifyMode::Off || reject("--verify-only and --verify=off leave nothing to do");
}

/// As the command line spells it.
static const char *spelling(From from) {
  switch (from) {
  case From::Source: return "--from=gc3";
  case From::InstructionDag: return "--from=inst-dag";
  case From::GC3IR: return "--from=gc3-ir";
  case From::MscclXml: return "--from=msccl-xml";
  case From::Bundle: break; // known by its content alone
  }
  return "";
}

/// With --from, stages that do not run have no options, and nothing comes out of them.
static bool checkFrom(const Table &table) {
  if (!table.collective.empty() && table.from != From::MscclXml && !table.verifyOnly)
    return reject("--collective says what MSCCL XML implements, and needs --import-msccl");
  if (table.from == From::Source)
    return true;
  std::string from = spelling(table.from);
  Emit first = table.from == From::InstructionDag ? Emit::InstructionDag : Emit::GC3IR;
  if (table.dump)
    return reject("--dump prints a bundle, and " + from + " reads text");
  Emit wanted = table.emit == Emit::Dot ? table.graph : table.emit;
  if (wanted < first)
    return reject(from + " begins behind what " + (table.emit == Emit::Dot ? "--graph" : "--emit") + " asks for");
  std::vector<std::pair<const char *, int>> idle = {
      {"-D", table.defines.getNumOccurrences()},
      {"-I", table.collective.empty() ? table.includes.getNumOccurrences() : 0},
      {"--program", table.program.getNumOccurrences()},
      {"--no-fusion", table.noFusion.getNumOccurrences()},
      {"--max-ops", table.maxOps.getNumOccurrences()}};
  if (table.from == From::GC3IR)
    idle.emplace_back("--fifo-slots", table.fifoSlots.getNumOccurrences());
  if (table.from != From::InstructionDag)
    idle.emplace_back("--max-threadblocks", table.maxThreadBlocks.getNumOccurrences());
  for (auto [option, occurrences] : idle)
    if (occurrences != 0)
      return reject(std::string(option) + " says nothing about what " + from + " reads");
  return true;
}

static bool parseDefines(const Table &table, Options &options) {
  for (const std::string &define : table.defines) {
    size_t equals = define.find('=');
    if (equals == std::string::npos || equals == 0)
      return reject("-D takes name=value, not '" + define + "'");
    options.sema.defines.emplace_back(define.substr(0, equals), define.substr(equals + 1));
  }
  return true;
}

std::optional<Options> gc3::driver::parseCommandLine(int argc, const char *const *argv) {
  Table table;
  cl::HideUnrelatedOptions({&table.output, &table.input, &table.checks, &table.limits});
  cl::SetVersionPrinter([](llvm::raw_ostream &out) { out << version() << '\n'; });
  std::string errors;
  llvm::raw_string_ostream errorStream(errors);
  const char *overview =
      "gc3c: compiles collective communication programs\n\n"
      "Exit status: 0 all right, 1 an error, after which no output has changed, 2 wrong command line.\n";
  if (!cl::ParseCommandLineOptions(argc, argv, overview, &errorStream)) {
    llvm::errs() << errorStream.str();
    return std::nullopt;
  }
  if (table.importMsccl && table.from.getNumOccurrences() != 0) {
    reject("--import-msccl is short for --from=msccl-xml; give one of the two");
    return std::nullopt;
  }
  if (table.importMsccl)
    table.from = From::MscclXml;
  Options options;
  if (!checkRanges(table) || !checkInput(table) || !checkVerifyOnly(table) || !checkDependencies(table) ||
      !checkPicture(table) || !checkFrom(table) || !parseDefines(table, options))
    return std::nullopt;
  if (!table.files.empty())
    options.input = table.files.front();
  if (table.verifyOnly) {
    options.verifyOnly.assign(table.files.begin(), table.files.end());
    table.emit = Emit::Verdict;
  }
  options.collective = table.collective;
  options.output = table.out;
  options.from = table.from;
  options.emit = table.emit;
  options.mscclDialect = table.mscclDialect;
  options.graph = table.graph;
  options.maxPicture = table.maxPicture;
  if (table.emit == Emit::Html && table.maxPicture.getNumOccurrences() == 0)
    options.maxPicture = 20000;
  options.dump = table.dump;
  options.listStd = table.listStd;
  options.verify = table.verify;
  options.dependencies = table.dependencies;
  options.dependencyFile = table.dependencyFile;
  options.phonyDependencies = table.phonyDependencies;
  options.diagnostics = table.diagnostics;
  options.timeReport = table.timeReport;
  options.errorLimit = table.errorLimit;
  options.sema.includeDirs.assign(table.includes.begin(), table.includes.end());
  options.sema.program = table.program;
  options.sema.maxOperations = table.maxOps;
  options.sema.maxSteps = table.maxSteps;
  options.sema.maxSlots = table.maxSlots;
  options.lower.fuse = !table.noFusion;
  // Room for transfers, which are two instructions, in a few parallel instances each.
  options.lower.maxInstructions = std::min<uint64_t>(8 * table.maxOps, lower::MaxInstructions);
  options.schedule.fifoSlots = table.fifoSlots;
  options.schedule.maxThreadBlocks = table.maxThreadBlocks;
  return options;
}
