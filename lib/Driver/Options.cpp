// SPDX-License-Identifier: Apache-2.0
// The table of options, in groups: output, input, checks, limits.
#include "gc3/Driver/Options.h"
#include "Explain.h"
#include "InputKind.h"
#include "Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstdlib>
#include <limits>

using namespace gc3;
using namespace gc3::driver;
namespace cl = llvm::cl;

namespace {

/// Parses the name of a value. An option that needs no value has its first one. The error for an unknown name lists the
/// valid names.
template <typename Value>
struct NamedValue : cl::parser<Value> {
  using cl::parser<Value>::parser;

  bool parse(cl::Option &option, llvm::StringRef, llvm::StringRef text, Value &value) {
    std::string names;
    const bool isLeftOut = text.empty() && option.getValueExpectedFlag() == cl::ValueOptional;
    for (const auto &each : this->Values) {
      if (each.Name == text || isLeftOut) {
        value = each.V.getValue();
        return false;
      }
      names += (names.empty() ? "" : ", ") + each.Name.str();
    }
    return option.error("unknown value '" + text + "'; it takes one of " + names);
  }
};

template <typename Value>
using EnumOption = cl::opt<Value, false, NamedValue<Value>>;

enum class Color : uint8_t { Auto, Always, Never };

/// The options of the command line. The table exists only during the parse, so no option is a global variable.
struct Table {
  cl::OptionCategory output{"Output"};
  cl::OptionCategory input{"Input"};
  cl::OptionCategory checks{"Checks"};
  cl::OptionCategory limits{"Limits"};

  cl::list<std::string> files{cl::Positional, cl::desc("FILE.gc3"), cl::cat(input)};
  EnumOption<From> from{"from", cl::desc("What FILE holds:"),
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
  EnumOption<Emit> emit{
      "emit", cl::desc("What to write:"),
      cl::values(clEnumValN(Emit::Ast, "ast", "the syntax tree, as canonical source"),
                 clEnumValN(Emit::ChunkDag, "chunk-dag", "the Chunk DAG: operations on chunks"),
                 clEnumValN(Emit::InstructionDag, "inst-dag", "the Instruction DAG: sends and receives"),
                 clEnumValN(Emit::GC3IR, "gc3-ir", "GC3-IR: thread blocks and their steps"),
                 clEnumValN(Emit::Bundle, "bundle", "a bundle for the runtime (default)"),
                 clEnumValN(Emit::MscclXml, "msccl-xml", "an algorithm for the MSCCL runtimes"),
                 clEnumValN(Emit::Dot, "dot", "a picture of one program for Graphviz: see --graph"),
                 clEnumValN(Emit::Html, "html", "a page that plays one program in a browser")),
      cl::init(Emit::Bundle), cl::cat(output)};
  EnumOption<emit::MscclDialect> mscclDialect{
      "msccl-dialect", cl::desc("Whose XML --emit=msccl-xml writes:"),
      cl::values(clEnumValN(emit::MscclDialect::Msccl, "msccl", "microsoft/msccl (default)"),
                 clEnumValN(emit::MscclDialect::Rccl, "rccl", "RCCL, and msccl-executor-nccl")),
      cl::init(emit::MscclDialect::Msccl), cl::cat(output)};
  EnumOption<Emit> graph{"graph", cl::desc("What --emit=dot draws:"),
                         cl::values(clEnumValN(Emit::ChunkDag, "chunk-dag", "the Chunk DAG"),
                                    clEnumValN(Emit::InstructionDag, "inst-dag", "the Instruction DAG"),
                                    clEnumValN(Emit::GC3IR, "gc3-ir", "GC3-IR (default)")),
                         cl::init(Emit::GC3IR), cl::cat(output)};
  cl::opt<CostFormat, false, NamedValue<CostFormat>> cost{
      "cost",
      cl::desc("Print the messages, bytes and thread blocks of each rank, the longest path, and lower bounds:"),
      cl::ValueOptional,
      cl::values(clEnumValN(CostFormat::Text, "text", "as tables (default)"),
                 clEnumValN(CostFormat::Json, "json", "as a JSON object")),
      cl::init(CostFormat::Text),
      cl::cat(output)};
  cl::opt<std::string> topology{
      "topology",
      cl::desc("With --cost: also print times on this machine, and the part of it that is busiest; gc3-sim "
               "--list-topologies lists names, and files are those of gc3-sim"),
      cl::value_desc("name"), cl::cat(output)};
  cl::opt<bool> dump{"dump", cl::desc("Print a bundle (FILE.gc3b) as text"), cl::cat(output)};
  cl::opt<bool> listStd{"list-std", cl::desc("List the standard library; takes no input file"), cl::cat(output)};
  cl::opt<std::string> explain{
      "explain",
      cl::desc("Explain the id of a message with an example and the remedy, or list all; takes no input file"),
      cl::value_desc("id"), cl::cat(output)};
  cl::opt<bool> dependencies{
      "MD", cl::desc("Write a rule for make, too: the output depends on FILE.gc3 and its imports"), cl::cat(output)};
  cl::opt<std::string> dependencyFile{"MF", cl::desc("Where -MD writes (default: the output with .d for its suffix)"),
                                      cl::value_desc("file"), cl::Prefix, cl::cat(output)};
  cl::opt<bool> phonyDependencies{"MP", cl::desc("With -MD, a rule for each file: make continues if one was removed"),
                                  cl::cat(output)};
  EnumOption<DiagnosticsFormat> diagnostics{
      "diagnostics", cl::desc("How to write errors, warnings and remarks:"),
      cl::values(clEnumValN(DiagnosticsFormat::Text, "text", "for people (default)"),
                 clEnumValN(DiagnosticsFormat::Json, "json", "for programs: a JSON object a line"),
                 clEnumValN(DiagnosticsFormat::Sarif, "sarif", "for editors and code hosts: a SARIF 2.1.0 log")),
      cl::init(DiagnosticsFormat::Text), cl::cat(output)};
  EnumOption<Color> color{"color", cl::desc("When to color errors, warnings and remarks:"),
                          cl::values(clEnumValN(Color::Auto, "auto", "on a terminal, unless NO_COLOR is set (default)"),
                                     clEnumValN(Color::Always, "always", "always"),
                                     clEnumValN(Color::Never, "never", "never")),
                          cl::init(Color::Auto), cl::cat(output)};
  cl::opt<bool> timeReport{"time-report", cl::desc("Report the time and memory of each stage"), cl::cat(output)};

  EnumOption<VerifyMode> verify{
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
      "max-ops", cl::desc("Chunk operations of all programs, with 8 instructions each (default 4Mi)"),
      cl::value_desc("n"), cl::init(sema::SemaOptions().maxOperations), cl::cat(limits)};
  cl::opt<unsigned long long> maxSteps{"max-steps", cl::desc("The most evaluation steps (default 250 million)"),
                                       cl::value_desc("n"), cl::init(sema::SemaOptions().maxSteps), cl::cat(limits)};
  cl::opt<unsigned long long> maxSlots{"max-slots",
                                       cl::desc("Chunks of all buffers of all ranks and programs (default 32Mi)"),
                                       cl::value_desc("n"), cl::init(sema::SemaOptions().maxSlots), cl::cat(limits)};
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
    return reject("--max-slots takes at most 2^32 - 2");
  return true;
}

static bool given(const cl::Option &option) {
  return option.getNumOccurrences() != 0;
}

/// Returns an option as users write it.
static std::string dashed(const cl::Option &option) {
  bool isShort = option.ArgStr.size() == 1 || option.ArgStr == "MD";
  return (isShort ? "-" : "--") + option.ArgStr.str();
}

/// Returns the option that selects this kind of input.
static const char *spelling(From from) {
  switch (from) {
  case From::Source: return "--from=gc3";
  case From::InstructionDag: return "--from=inst-dag";
  case From::GC3IR: return "--from=gc3-ir";
  case From::MscclXml: return "--from=msccl-xml";
  case From::Bundle: break; // no option: a bundle is recognized by its content
  }
  return "";
}

namespace {

struct Rule {
  bool broken;
  std::string message;
};

} // namespace

/// Returns true if gc3c only prints information about itself, so that there is no input.
static bool isQuery(const Table &table) {
  return table.listStd || given(table.explain);
}

static std::string queryOption(const Table &table) {
  return table.listStd ? "--list-std" : "--explain";
}

/// Adds rules for --verify-only, which determines the kinds of its inputs by itself and writes no output.
static void addVerifyOnlyRules(const Table &table, std::vector<Rule> &rules) {
  const cl::Option *const others[] = {&table.from, &table.importMsccl, &table.emit,         &table.out,
                                      &table.dump, &table.timeReport,  &table.dependencies, &table.cost};
  for (const cl::Option *option : others)
    rules.push_back(
        {table.verifyOnly && given(*option),
         "--verify-only detects the kind of each file and writes only verdicts, so it takes no " + dashed(*option)});
  rules.push_back(
      {table.verifyOnly && table.verify == VerifyMode::Off, "--verify-only and --verify=off leave nothing to do"});
}

/// Returns the bit of an input kind in a set of kinds.
static unsigned bit(From from) {
  return 1u << static_cast<unsigned>(from);
}

/// The bit of an input kind that From does not have: a bundle that gc3c only prints (--dump).
static constexpr unsigned dumped = 1u << (static_cast<unsigned>(From::Bundle) + 1);

/// Returns the set of kinds that the inputs can have according to the command line.
static unsigned inputKinds(const Table &table) {
  if (isQuery(table))
    return 0;
  if (table.dump)
    return dumped;
  if (!table.verifyOnly)
    return bit(table.from);
  unsigned kinds = 0;
  for (const std::string &path : table.files) {
    std::optional<From> named = kindBySuffix(path);
    kinds |= named ? bit(*named) : ~0u;
  }
  return kinds;
}

/// Adds rules against options that affect only stages that do not run.
static void addStageRules(const Table &table, std::vector<Rule> &rules) {
  const unsigned source = bit(From::Source);
  const unsigned dag = bit(From::InstructionDag);
  const unsigned xml = bit(From::MscclXml);
  const unsigned all = source | dag | bit(From::GC3IR) | xml | bit(From::Bundle);
  // --max-ops also limits the steps of a program that is cut into steps of one slot. This happens when a program is
  // written as MSCCL XML, and when --verify-only verifies MSCCL XML.
  const unsigned cut = table.emit == Emit::MscclXml ? all : table.verifyOnly ? xml : 0;
  // Each option, and the inputs for which its stage runs.
  const std::pair<const cl::Option &, unsigned> stageOptions[] = {
      {table.defines, source},
      {table.includes, source | (table.collective.empty() ? 0 : xml)},
      {table.program, source},
      {table.noFusion, source},
      {table.collective, xml},
      {table.maxOps, source | cut},
      {table.verify, all},
      {table.fifoSlots, source | dag | xml},
      {table.maxSlots, all | dumped},
      {table.maxThreadBlocks, all},
      {table.maxSteps, all | dumped},
      {table.verifyOnly, all},
      {table.timeReport, all},
      {table.errorLimit, all},
  };
  const unsigned kinds = inputKinds(table);
  const std::string what = table.dump         ? "--dump"
                           : isQuery(table)   ? queryOption(table)
                           : table.verifyOnly ? "these files"
                                              : spelling(table.from);
  for (const auto &[option, inputs] : stageOptions)
    rules.push_back({given(option) && !(inputs & kinds), dashed(option) + " has no effect on " + what});
}

/// Returns the option that writes files with the suffix of `path`. Returns an empty string if a bundle can have this
/// suffix.
static std::string optionOfSuffix(llvm::StringRef path) {
  static constexpr std::pair<const char *, const char *> options[] = {
      {".html", "--emit=html"},         {".dot", "--emit=dot"},       {".xml", "--emit=msccl-xml"},
      {".inst-dag", "--emit=inst-dag"}, {".gc3-ir", "--emit=gc3-ir"}, {".chunk-dag", "--emit=chunk-dag"}};
  for (const auto &[suffix, option] : options)
    if (path.endswith(suffix))
      return option;
  return {};
}

static void addBundleRules(const Table &table, std::vector<Rule> &rules) {
  const bool isBundle =
      table.emit == Emit::Bundle && !given(table.cost) && !isQuery(table) && !table.dump && !table.verifyOnly;
  const std::string option = optionOfSuffix(table.out);
  const bool isTerminal = (table.out == "-" || (table.out.empty() && !table.files.empty() && table.files[0] == "-")) &&
                          llvm::sys::Process::StandardOutIsDisplayed();
  rules.push_back({isBundle && !option.empty(), "'" + table.out + "' is no name for a bundle; " + option +
                                                    " writes such a file, and a bundle's name ends in .gc3b"});
  rules.push_back({isBundle && isTerminal, "a bundle is binary, and standard output is a terminal; -o FILE.gc3b writes "
                                           "a file, and --emit=gc3-ir prints text"});
}

/// Checks which options can be combined. Reports the first broken rule, in the order of the list.
static bool checkCombination(const Table &table) {
  const bool isText = table.from != From::Source; // text of an IR, or XML
  const bool isPicture = table.emit == Emit::Dot || table.emit == Emit::Html;
  const std::string from = spelling(table.from);
  const Emit firstOfText = table.from == From::InstructionDag ? Emit::InstructionDag : Emit::GC3IR;
  const Emit wanted = table.emit == Emit::Dot ? table.graph : table.emit;
  std::vector<Rule> rules = {
      {table.importMsccl && given(table.from), "--import-msccl is short for --from=msccl-xml; give one of the two"},
      {table.listStd && given(table.explain), "give only one of --list-std and --explain"},
      {isQuery(table) && (!table.files.empty() || given(table.emit) || given(table.from) || given(table.defines) ||
                          table.importMsccl || table.dump || table.dependencies || given(table.cost)),
       queryOption(table) + " takes no input file, and neither --emit, --cost, --from, --dump, -D nor -MD"},
      {!isQuery(table) && (table.files.empty() || table.files.front().empty()), "no input file; see gc3c --help"},
      {table.files.size() > 1 && !table.verifyOnly,
       "expected one input file, not " + std::to_string(table.files.size()) + "; --verify-only takes several"},
  };
  addVerifyOnlyRules(table, rules);
  addBundleRules(table, rules);
  rules.insert(
      rules.end(),
      {{given(table.cost) && given(table.emit), "--cost prints costs, and takes no --emit"},
       {given(table.topology) && !given(table.cost), "--topology is the machine of --cost, and needs it"},
       {given(table.cost) && table.dump, "--dump prints a bundle, and takes no --cost"},
       {given(table.cost) && table.verify == VerifyMode::Off, "costs need a verified program; leave out --verify=off"},
       {table.dump && given(table.emit), "--dump prints a bundle, and takes no --emit"},
       {table.dump && table.dependencies, "--dump prints a bundle, and takes no -MD"},
       {table.dump && isText, "--dump prints a bundle, and " + from + " reads text"},
       {!table.collective.empty() && table.from != From::MscclXml && !table.verifyOnly,
        "--collective names the collective of MSCCL XML, and needs --import-msccl"},
       {given(table.mscclDialect) && table.emit != Emit::MscclXml, "--msccl-dialect needs --emit=msccl-xml"},
       {given(table.graph) && table.emit != Emit::Dot, "--graph selects the graph of --emit=dot, and needs it"},
       {given(table.maxPicture) && !isPicture, "--max-picture needs --emit=dot or --emit=html"},
       {isPicture && table.verify == VerifyMode::Off, "a picture needs a verified program; leave out --verify=off"},
       {given(table.dependencyFile) && !table.dependencies, "-MF names the file of -MD, and needs -MD"},
       {given(table.dependencyFile) && table.dependencyFile.empty(), "-MF takes a file"},
       {table.phonyDependencies && !table.dependencies, "-MP adds rules to those of -MD, and needs -MD"},
       {isText && wanted < firstOfText,
        from + " starts after the stage that " + (table.emit == Emit::Dot ? "--graph" : "--emit") + " prints"}});
  addStageRules(table, rules);
  auto broken = llvm::find_if(rules, [](const Rule &rule) { return rule.broken; });
  return broken == rules.end() || reject(broken->message);
}

static bool checkExplain(const Table &table) {
  if (!given(table.explain) || table.explain == "all" || findId(table.explain))
    return true;
  std::string similar = llvm::join(similarIds(table.explain), "', '");
  return reject("no message has the id '" + table.explain +
                (similar.empty() ? "'; --explain=all lists all" : "'; did you mean '" + similar + "'?"));
}

static bool parseDefines(const Table &table, Options &options) {
  for (const std::string &define : table.defines) {
    size_t equals = define.find('=');
    if (equals == std::string::npos || equals == 0)
      return reject("-D takes name=value, not '" + define + "'");
    std::string name = define.substr(0, equals), value = define.substr(equals + 1);
    for (const auto &[other, before] : options.sema.defines)
      if (other == name)
        return reject("-D sets '" + name + "' twice, to " + before + " and to " + value);
    options.sema.defines.emplace_back(std::move(name), std::move(value));
  }
  return true;
}

/// Replaces LLVM's error for an unknown option, which suggests the option with the nearest spelling. This suggestion
/// does not help if the unknown option is one letter or an option of other compilers.
static std::string withoutPoorSuggestion(const std::string &errors, llvm::ArrayRef<const char *> arguments) {
  const auto isUnknown = [&](llvm::StringRef argument) {
    return argument.startswith("-") && errors.find("'" + argument.str() + "'") != std::string::npos;
  };
  const auto unknown = llvm::find_if(arguments, isUnknown);
  if (unknown == arguments.end())
    return errors;
  const llvm::StringRef name = llvm::StringRef(*unknown).ltrim('-');
  std::string advice;
  if (name == "v" || name == "verbose")
    advice = "--version prints the version, and --time-report the time of each stage";
  else if (name == "q" || name == "quiet")
    advice = "gc3c prints nothing unless there are errors or remarks";
  else if (name.size() <= 2 && name.startswith("O"))
    advice = "gc3c has no levels of optimization; --no-fusion and --fifo-slots change the schedule";
  else if (name.size() > 1)
    return errors;
  return "gc3c: unknown option '" + std::string(*unknown) + "'; " + (advice.empty() ? "see gc3c --help" : advice) +
         "\n";
}

static bool usesColor(Color color) {
  const char *noColor = std::getenv("NO_COLOR");
  return color == Color::Always ||
         (color == Color::Auto && llvm::errs().has_colors() && (!noColor || *noColor == '\0'));
}

/// Removes LLVM's own option --color, which takes other values than gc3c's. HideUnrelatedOptions() registers LLVM's
/// option.
static void removeOptionOfLlvm() {
  cl::HideUnrelatedOptions(cl::getGeneralCategory());
  if (cl::Option *color = cl::getRegisteredOptions().lookup("color"))
    color->removeArgument();
}

std::optional<Options> gc3::driver::parseCommandLine(int argc, const char *const *argv) {
  removeOptionOfLlvm();
  Table table;
  cl::HideUnrelatedOptions({&table.output, &table.input, &table.checks, &table.limits});
  cl::SetVersionPrinter([](llvm::raw_ostream &out) { out << version() << '\n'; });
  std::string errors;
  llvm::raw_string_ostream errorStream(errors);
  const char *overview =
      "gc3c: compiles collective communication programs\n\n"
      "Exit status: 0 all right, 1 an error, after which no output has changed, 2 wrong command line.\n";
  if (!cl::ParseCommandLineOptions(argc, argv, overview, &errorStream)) {
    llvm::errs() << withoutPoorSuggestion(errorStream.str(),
                                          llvm::ArrayRef(argv, static_cast<size_t>(argc)).drop_front());
    return std::nullopt;
  }
  if (table.importMsccl && !given(table.from))
    table.from = From::MscclXml;
  Options options;
  if (!checkRanges(table) || !checkCombination(table) || !checkExplain(table) || !parseDefines(table, options))
    return std::nullopt;
  if (!table.files.empty())
    options.input = table.files.front();
  if (table.verifyOnly) {
    options.verifyOnly.assign(table.files.begin(), table.files.end());
    table.emit = Emit::Verdict;
  }
  if (given(table.cost))
    table.emit = Emit::Cost;
  options.costFormat = table.cost;
  options.topology = table.topology;
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
  options.explain = table.explain;
  options.verify = table.verify;
  options.dependencies = table.dependencies;
  options.dependencyFile = table.dependencyFile;
  options.phonyDependencies = table.phonyDependencies;
  options.diagnostics = table.diagnostics;
  options.color = usesColor(table.color);
  options.timeReport = table.timeReport;
  options.errorLimit = table.errorLimit;
  options.sema.includeDirs.assign(table.includes.begin(), table.includes.end());
  options.sema.program = table.program;
  options.sema.maxOperations = table.maxOps;
  options.sema.maxSteps = table.maxSteps;
  options.sema.maxSlots = table.maxSlots;
  options.lower.fuse = !table.noFusion;
  // A chunk operation between ranks becomes two instructions in each parallel instance. The factor 8 allows a few
  // instances for each operation.
  options.lower.maxInstructions = std::min<uint64_t>(8 * table.maxOps, lower::MaxInstructions);
  options.lower.maxSlots = table.maxSlots;
  options.schedule.fifoSlots = table.fifoSlots;
  options.schedule.maxThreadBlocks = table.maxThreadBlocks;
  return options;
}
