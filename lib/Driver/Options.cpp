// SPDX-License-Identifier: Apache-2.0
// The option table. Groups: output, input, checks, limits.
#include "gc3/Driver/Options.h"
#include "Version.h"
#include "llvm/ADT/STLExtras.h"
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

  cl::opt<std::string> file{cl::Positional, cl::desc("FILE.gc3"), cl::cat(input)};
  cl::opt<From> from{"from", cl::desc("What FILE holds:"),
                     cl::values(clEnumValN(From::Source, "gc3", "a program, as text in the language (default)"),
                                clEnumValN(From::InstructionDag, "inst-dag", "what --emit=inst-dag printed"),
                                clEnumValN(From::GC3IR, "gc3-ir", "what --emit=gc3-ir printed")),
                     cl::init(From::Source), cl::cat(input)};
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
  cl::opt<std::string> explain{"explain", cl::desc("Say what the id of a message means, or all; takes no input file"),
                               cl::value_desc("id"), cl::cat(output)};
  cl::opt<bool> dependencies{
      "MD", cl::desc("Write a rule for make, too: the output depends on FILE.gc3 and its imports"), cl::cat(output)};
  cl::opt<std::string> dependencyFile{"MF", cl::desc("Where -MD writes (default: the output with .d for its suffix)"),
                                      cl::value_desc("file"), cl::Prefix, cl::cat(output)};
  cl::opt<bool> phonyDependencies{"MP", cl::desc("With -MD, a rule for each file: make goes on when one was removed"),
                                  cl::cat(output)};
  cl::opt<DiagnosticsFormat> diagnostics{
      "diagnostics", cl::desc("How to write errors and remarks:"),
      cl::values(clEnumValN(DiagnosticsFormat::Text, "text", "for people (default)"),
                 clEnumValN(DiagnosticsFormat::Json, "json", "for programs: a JSON object a line"),
                 clEnumValN(DiagnosticsFormat::Sarif, "sarif", "for editors and code hosts: a SARIF 2.1.0 log")),
      cl::init(DiagnosticsFormat::Text), cl::cat(output)};
  cl::opt<bool> timeReport{"time-report", cl::desc("Say how long each stage took"), cl::cat(output)};

  cl::opt<VerifyMode> verify{
      "verify", cl::desc("How to verify what is emitted:"),
      cl::values(clEnumValN(VerifyMode::Fast, "fast", "compare 128-bit hashes of contributions (default)"),
                 clEnumValN(VerifyMode::Exact, "exact", "compare the contributions themselves"),
                 clEnumValN(VerifyMode::Off, "off", "do not verify")),
      cl::init(VerifyMode::Fast), cl::cat(checks)};
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

static bool given(const cl::Option &option) {
  return option.getNumOccurrences() != 0;
}

/// Which options go with which: everything that there is to say about it, in the order in which it is said.
static bool checkCombination(const Table &table) {
  struct Rule {
    bool broken;
    std::string message;
  };
  const bool isText = table.from != From::Source; // of an IR
  const bool isPicture = table.emit == Emit::Dot || table.emit == Emit::Html;
  const std::string from = table.from == From::GC3IR ? "--from=gc3-ir" : "--from=inst-dag";
  const Emit firstOfText = table.from == From::GC3IR ? Emit::GC3IR : Emit::InstructionDag;
  const Emit wanted = table.emit == Emit::Dot ? table.graph : table.emit;
  const bool isAsked = table.listStd || given(table.explain); // of gc3c itself: there is no input
  const std::string question = table.listStd ? "--list-std" : "--explain";
  std::vector<Rule> rules = {
      {table.listStd && given(table.explain), "--list-std and --explain ask two things; ask one"},
      {isAsked && (given(table.file) || given(table.emit) || given(table.from) || given(table.defines) || table.dump ||
                   table.dependencies),
       question + " takes no input file, and neither --emit, --from, --dump, -D nor -MD"},
      {!isAsked && table.file.empty(), "no input file; gc3c --help says more"},
      {table.dump && given(table.emit), "--dump prints a bundle, and takes no --emit"},
      {table.dump && table.dependencies, "--dump prints a bundle, and takes no -MD"},
      {table.dump && isText, "--dump prints a bundle, and " + from + " reads text"},

      {given(table.mscclDialect) && table.emit != Emit::MscclXml, "--msccl-dialect goes with --emit=msccl-xml"},
      {given(table.graph) && table.emit != Emit::Dot, "--graph says what --emit=dot draws, and needs it"},
      {given(table.maxPicture) && !isPicture, "--max-picture goes with --emit=dot and --emit=html"},
      {isPicture && table.verify == VerifyMode::Off, "pictures are of verified programs: leave out --verify=off"},
      {given(table.dependencyFile) && !table.dependencies, "-MF says where -MD writes; give -MD, too"},
      {given(table.dependencyFile) && table.dependencyFile.empty(), "-MF takes a file"},
      {table.phonyDependencies && !table.dependencies, "-MP adds to what -MD writes; give -MD, too"},

      {isText && wanted < firstOfText,
       from + " begins behind what " + (table.emit == Emit::Dot ? "--graph" : "--emit") + " asks for"},
  };
  // What is said to stages that do not run: each option with the last input for which its stage still does.
  const std::pair<const cl::Option &, From> stageOptions[] = {
      {table.defines, From::Source},  {table.includes, From::Source},       {table.program, From::Source},
      {table.noFusion, From::Source}, {table.maxOps, From::Source},         {table.fifoSlots, From::InstructionDag},
      {table.verify, From::GC3IR},    {table.maxThreadBlocks, From::GC3IR}, {table.maxSlots, From::GC3IR},
      {table.maxSteps, From::GC3IR},
  };
  const bool compiles = !table.dump && !isAsked;
  const std::string what = table.dump ? "--dump prints" : isAsked ? question + " prints" : from + " reads";
  for (const auto &[option, last] : stageOptions)
    rules.push_back(
        {given(option) && (!compiles || table.from > last),
         (option.ArgStr.size() == 1 ? "-" : "--") + option.ArgStr.str() + " says nothing about what " + what});
  auto broken = llvm::find_if(rules, [](const Rule &rule) { return rule.broken; });
  return broken == rules.end() || reject(broken->message);
}

static bool checkExplain(const Table &table) {
  if (!given(table.explain) || table.explain == "all")
    return true;
  std::vector<std::string> names;
  for (int id = 0; id != static_cast<int>(DiagId::Count); ++id)
    names.emplace_back(name(static_cast<DiagId>(id)));
  if (llvm::is_contained(names, table.explain))
    return true;
  std::string near = nearestName(table.explain, names);
  return reject("no message has the id '" + table.explain +
                (near.empty() ? "'; --explain=all lists all" : "'; did you mean '" + near + "'?"));
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
  Options options;
  if (!checkRanges(table) || !checkCombination(table) || !checkExplain(table) || !parseDefines(table, options))
    return std::nullopt;
  options.input = table.file;
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
  options.explain = table.explain;
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
