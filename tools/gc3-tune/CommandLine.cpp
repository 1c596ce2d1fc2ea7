// SPDX-License-Identifier: Apache-2.0
// Defines the options, and checks which options can be combined. Sizes have the options of gc3-run.
#include "CommandLine.h"
#include "OptionText.h"
#include "gc3/Common/Size.h"
#include "gc3/Common/StandardCollective.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <memory>
#include <set>

namespace gc3::tune {

namespace {

namespace cl = llvm::cl;

#ifdef GC3_TUNE_SYNTH
constexpr bool hasSynth = true;
#else
constexpr bool hasSynth = false;
#endif

/// The options live only during the parse; none is global.
struct Table {
  cl::OptionCategory programs{"Candidates"};
  cl::OptionCategory times{"Times"};
  cl::OptionCategory choice{"Choice"};
  cl::OptionCategory output{"Output"};
  cl::OptionCategory online{"Online selection"};

  cl::list<std::string> inputs{cl::Positional, cl::desc("FILES"), cl::cat(programs)};
  cl::list<std::string> defines{"D", cl::desc("Set a param of programs in .gc3 files; a knob then has this value only"),
                                cl::value_desc("name=value"), cl::Prefix, cl::cat(programs)};
  cl::list<std::string> includes{"I", cl::desc("Also search this folder for imports"), cl::value_desc("folder"),
                                 cl::Prefix, cl::cat(programs)};
  cl::opt<std::string> synthesize{
      "synthesize",
      cl::desc("Also programs for this standard collective that gc3-synth's greedy search finds on the topology"),
      cl::value_desc("collective"), cl::cat(programs)};
  cl::opt<unsigned> mostCandidates{"most-candidates", cl::desc("Most combinations of knobs (default 1000)"),
                                   cl::value_desc("n"), cl::init(1000), cl::cat(programs)};
  cl::opt<unsigned> maxThreadBlocks{"max-threadblocks", cl::desc("Thread blocks per rank (default 108)"),
                                    cl::value_desc("n"), cl::init(108), cl::cat(programs)};
  cl::opt<unsigned> jobs{"jobs", cl::desc("Threads that compile and simulate (default one for each processor)"),
                         cl::value_desc("n"), cl::init(0), cl::cat(programs)};

  cl::opt<std::string> topology{
      "topology",
      cl::desc("The machine: a name that --list-topologies lists, or a file: JSON, NCCL's XML, or the output of "
               "'nvidia-smi topo -m'; N*FILE is N machines"),
      cl::value_desc("name"), cl::cat(times)};
  cl::opt<bool> listTopologies{"list-topologies", cl::desc("List the names of topologies, and end"), cl::cat(times)};
  cl::opt<std::string> measure{"measure", cl::desc("Measure the times on this machine: host or cuda"),
                               cl::value_desc("backend"), cl::cat(times)};
  cl::opt<unsigned> rounds{"rounds", cl::desc("Measurements of each call, of which the shortest counts (default 3)"),
                           cl::value_desc("n"), cl::init(3), cl::cat(times)};
  cl::opt<std::string> minBytes{"b", cl::desc("Smallest size (default 1KiB)"), cl::value_desc("size"), cl::init("1KiB"),
                                cl::cat(times)};
  cl::alias minAlias{"minbytes", cl::desc("Alias for -b"), cl::aliasopt(minBytes), cl::cat(times)};
  cl::opt<std::string> maxBytes{"e", cl::desc("Largest size (default 1GiB)"), cl::value_desc("size"), cl::init("1GiB"),
                                cl::cat(times)};
  cl::alias maxAlias{"maxbytes", cl::desc("Alias for -e"), cl::aliasopt(maxBytes), cl::cat(times)};
  cl::opt<unsigned> factor{"f", cl::desc("Sizes grow by this factor, at least 2 (default 2)"), cl::value_desc("n"),
                           cl::init(2), cl::cat(times)};
  cl::alias factorAlias{"stepfactor", cl::desc("Alias for -f"), cl::aliasopt(factor), cl::cat(times)};
  cl::opt<std::string> type{"d", cl::desc("Data type, as in gc3-run (default float)"), cl::value_desc("type"),
                            cl::init("float"), cl::cat(times)};
  cl::alias typeAlias{"datatype", cl::desc("Alias for -d"), cl::aliasopt(type), cl::cat(times)};

  cl::opt<unsigned> most{"programs", cl::desc("Most programs of a collective in the bundle (default 4)"),
                         cl::value_desc("n"), cl::init(4), cl::cat(choice)};
  cl::opt<std::string> within{"within", cl::desc("Permit this loss against the best candidate of a size (default 2%)"),
                              cl::value_desc("percent"), cl::init("2%"), cl::cat(choice)};
  cl::opt<std::string> baseline{"baseline", cl::desc("nccl: leave sizes to NCCL where its cost model is faster"),
                                cl::value_desc("name"), cl::cat(choice)};

  cl::opt<std::string> bundle{"o", cl::desc("Write the bundle here; - is standard output, without the table"),
                              cl::value_desc("file"), cl::cat(output)};
  cl::opt<std::string> json{"json",
                            cl::desc("Write all times and the ranges here as JSON, too; - is standard output, without "
                                     "the table"),
                            cl::value_desc("file"), cl::cat(output)};
  cl::opt<std::string> report{
      "report",
      cl::desc("Write a web page with plots of times and speed-ups, with --replay of the choices "
               "over time; - is standard output"),
      cl::value_desc("file"), cl::cat(output)};
  cl::opt<std::string> fromLog{"from-log",
                               cl::desc("FILES is one bundle: choose the ranges of its programs by the times in this "
                                        "file of GC3_TUNE_FILE"),
                               cl::value_desc("file"), cl::cat(online)};
  cl::opt<std::string> show{"show", cl::desc("Print a file of GC3_TUNE_FILE as a table, and end"),
                            cl::value_desc("file"), cl::cat(online)};
  cl::opt<std::string> replay{"replay",
                              cl::desc("Run the runtime's selector over the times in this JSON file, and print its "
                                       "choices as JSON; - is standard input"),
                              cl::value_desc("file"), cl::cat(online)};
  cl::opt<uint64_t> seed{"seed", cl::desc("With --replay: seed of noise and delays (default 0)"), cl::value_desc("n"),
                         cl::init(0), cl::cat(online)};
  cl::opt<unsigned> ranks{"ranks",
                          cl::desc("With --replay: selectors, which exchange their times; an error if they choose "
                                   "different arms (default 1)"),
                          cl::value_desc("n"), cl::init(1), cl::cat(online)};

  cl::opt<bool> quiet{"q", cl::desc("Print no table"), cl::cat(output)};
  cl::alias quietAlias{"quiet", cl::desc("Alias for -q"), cl::aliasopt(quiet), cl::cat(output)};
};

bool reject(const std::string &message) {
  llvm::errs() << "gc3-tune: " << message << '\n';
  return false;
}

bool readSize(const cl::opt<std::string> &option, uint64_t &size) {
  if (option.getNumOccurrences() == 0)
    return true;
  const std::optional<uint64_t> parsed = common::parseSize(option);
  if (!parsed)
    return reject("-" + option.ArgStr.str() + " must be a size, not '" + option + "'");
  size = *parsed;
  return true;
}

bool checkRange(const CommandLine &line) {
  const std::string problem = sim::checkSizes(line.minBytes, line.maxBytes);
  return problem.empty() || reject(problem);
}

bool readType(const std::string &name, core::ElementType &type) {
  const std::optional<core::ElementType> known = sim::typeNamed(name);
  if (!known)
    return reject("unknown data type '" + name + "'");
  type = *known;
  return true;
}

bool readDefines(const Table &table, CommandLine &line) {
  for (const std::string &define : table.defines)
    if (const std::string problem = sim::addDefine("-D", define, line.defines); !problem.empty())
      return reject(problem);
  return true;
}

/// Reads a percentage, with or without its sign.
bool readWithin(llvm::StringRef text, double &within) {
  const llvm::StringRef number = text.endswith("%") ? text.drop_back() : text;
  if (number.getAsDouble(within) || !std::isfinite(within) || within < 0)
    return reject("--within must be a percentage of at least 0, not '" + text.str() + "'");
  within /= 100;
  return true;
}

bool readTiming(const std::string &text, Timing &timing) {
  if (text.empty())
    return true;
  if (text != "host" && text != "cuda")
    return reject("--measure must be host or cuda, not '" + text + "'");
  timing = text == "host" ? Timing::Host : Timing::Cuda;
  return true;
}

std::string spelled(const cl::Option &option) {
  return (option.ArgStr.size() > 1 ? "--" : "-") + option.ArgStr.str();
}

bool checkNumbers(const Table &table) {
  const std::pair<const cl::opt<unsigned> *, unsigned> least[] = {{&table.mostCandidates, 1},
                                                                  {&table.maxThreadBlocks, 1},
                                                                  {&table.rounds, 1},
                                                                  {&table.factor, 2},
                                                                  {&table.most, 1}};
  for (const auto &[option, smallest] : least)
    if (*option < smallest)
      return reject(spelled(*option) + " must be at least " + std::to_string(smallest));
  if (table.most > 64)
    return reject("--programs must be at most 64");
  return true;
}

bool checkFiles(const Table &table) {
  std::set<std::string> paths;
  for (const std::string *path : {&table.bundle.getValue(), &table.json.getValue(), &table.report.getValue()})
    if (!path->empty() && !paths.insert(*path).second)
      return reject("-o, --json and --report must be different files");
  return true;
}

bool checkAlone(const Table &table, const cl::Option &option) {
  if (!table.inputs.empty() || !table.bundle.empty() || !table.topology.empty() || !table.measure.empty())
    return reject(spelled(option) + " takes no programs, topology or output");
  return true;
}

bool checkReplay(const Table &table) {
  if (!checkAlone(table, table.replay))
    return false;
  if (table.report == "-")
    return reject("--replay prints JSON, so --report must be a file");
  if (table.ranks < 1 || table.ranks > 1024)
    return reject("--ranks must be 1 to 1024");
  return true;
}

/// Checks options that have no effect if times are learned.
bool checkFromLog(const Table &table) {
  if (table.inputs.size() != 1)
    return reject("--from-log takes one bundle");
  for (const cl::Option *option : std::initializer_list<const cl::Option *>{
           std::addressof(table.defines), std::addressof(table.includes), std::addressof(table.synthesize),
           &table.topology, &table.measure, &table.rounds, &table.baseline, &table.minBytes, &table.maxBytes,
           &table.factor, &table.type})
    if (option->getNumOccurrences() != 0)
      return reject(spelled(*option) + " has no effect with --from-log");
  return true;
}

bool check(const Table &table) {
  if (table.listTopologies)
    return true;
  if (!table.replay.empty())
    return checkReplay(table);
  if (!table.show.empty())
    return checkAlone(table, table.show);
  if (table.seed.getNumOccurrences() != 0 || table.ranks.getNumOccurrences() != 0)
    return reject("--seed and --ranks need --replay");
  if (table.inputs.empty() && table.synthesize.empty())
    return reject("FILES are missing; see gc3-tune --help");
  if (!table.synthesize.empty() && !common::findStandard(table.synthesize))
    return reject("--synthesize must be a standard collective, not '" + table.synthesize + "'");
  if (!table.synthesize.empty() && !hasSynth)
    return reject("this gc3-tune was built without gc3-synth, so it can't --synthesize");
  if (table.bundle.empty())
    return reject("-o is missing");
  if (!table.fromLog.empty())
    return checkFromLog(table) && checkNumbers(table) && checkFiles(table);
  if (!table.baseline.empty() && table.baseline != "nccl")
    return reject("--baseline must be nccl, not '" + table.baseline + "'");
  if (table.topology.empty() && (table.measure.empty() || !table.baseline.empty() || !table.synthesize.empty()))
    return reject("--topology is missing; --list-topologies lists some");
  if (!table.topology.empty() && !table.measure.empty() && table.baseline.empty() && table.synthesize.empty())
    return reject("--topology has no effect with --measure unless there is --baseline or --synthesize");
  if (table.rounds.getNumOccurrences() != 0 && table.measure.empty())
    return reject("--rounds needs --measure");
  return checkNumbers(table) && checkFiles(table);
}

} // namespace

std::optional<CommandLine> parseCommandLine(int argc, char **argv) {
  Table table;
  cl::SetVersionPrinter([](llvm::raw_ostream &out) { out << "gc3-tune " GC3_TUNE_VERSION "\n"; });
  cl::HideUnrelatedOptions({&table.programs, &table.times, &table.choice, &table.output, &table.online});
  CommandLine line;
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "gc3-tune: makes a bundle of the fastest programs for each range of sizes\n\n"
          "FILES are .gc3 programs, whose knobs (params that list their values) make the candidates, or programs in "
          "other formats that gc3c reads.\n"
          "Sizes are bytes of the larger of one rank's input and output; K M G and KiB MiB GiB are powers of 1024, "
          "KB MB GB of 1000.\n\n"
          "Exit status: 0 success, 1 an error, after which no output has changed (if NCCL is faster at all sizes: no "
          "bundle), 2 wrong command line.\n",
          &llvm::errs()) ||
      !check(table) || !readSize(table.minBytes, line.minBytes) || !readSize(table.maxBytes, line.maxBytes) ||
      !checkRange(line) || !readType(table.type, line.type) || !readDefines(table, line) ||
      !readWithin(table.within, line.within) || !readTiming(table.measure, line.timing))
    return {};
  line.synthesize = table.synthesize;
  line.inputs = table.inputs, line.includeDirs = table.includes;
  line.mostCandidates = table.mostCandidates, line.maxThreadBlocks = table.maxThreadBlocks;
  line.topology = table.topology, line.rounds = table.rounds, line.factor = table.factor;
  line.againstNccl = !table.baseline.empty(), line.programs = table.most, line.jobs = table.jobs;
  line.output = table.bundle, line.json = table.json, line.report = table.report;
  line.show = table.show, line.fromLog = table.fromLog;
  if (!line.fromLog.empty())
    line.timing = Timing::Learned;
  line.replay = table.replay, line.seed = table.seed, line.ranks = table.ranks;
  line.listTopologies = table.listTopologies,
  line.quiet = table.quiet || line.output == "-" || line.json == "-" || line.report == "-";
  return line;
}

} // namespace gc3::tune
