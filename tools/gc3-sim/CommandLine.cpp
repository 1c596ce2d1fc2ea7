// SPDX-License-Identifier: Apache-2.0
// Defines the options, and checks which options can be combined. Sizes have the options of gc3-run.
#include "CommandLine.h"
#include "OptionText.h"
#include "gc3/Common/CollectiveForm.h"
#include "gc3/Common/Size.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace gc3::sim {

namespace {

namespace cl = llvm::cl;

/// The options live only during the parse; none is global.
struct Table {
  cl::OptionCategory call{"Call"};
  cl::OptionCategory machine{"Machine"};
  cl::OptionCategory output{"Output"};

  cl::list<std::string> inputs{cl::Positional, cl::desc("FILE"), cl::cat(call)};
  cl::list<std::string> defines{"D", cl::desc("Set a param of a program in FILE.gc3"), cl::value_desc("name=value"),
                                cl::Prefix, cl::cat(call)};
  cl::opt<std::string> collective{
      "collective", cl::desc("Only programs of this collective: NAME, or NAME(arguments) such as 'shift(by = 1)'"),
      cl::value_desc("name"), cl::cat(call)};
  cl::opt<std::string> program{"program", cl::desc("Simulate this program at any size; all: simulate each program"),
                               cl::value_desc("name"), cl::cat(call)};
  cl::opt<std::string> minBytes{"b", cl::desc("Smallest size (default 1KiB)"), cl::value_desc("size"), cl::init("1KiB"),
                                cl::cat(call)};
  cl::alias minAlias{"minbytes", cl::desc("Alias for -b"), cl::aliasopt(minBytes), cl::cat(call)};
  cl::opt<std::string> maxBytes{"e", cl::desc("Largest size (default 64MiB)"), cl::value_desc("size"),
                                cl::init("64MiB"), cl::cat(call)};
  cl::alias maxAlias{"maxbytes", cl::desc("Alias for -e"), cl::aliasopt(maxBytes), cl::cat(call)};
  cl::opt<unsigned> factor{"f", cl::desc("Sizes grow by this factor, at least 2 (default 2)"), cl::value_desc("n"),
                           cl::init(2), cl::cat(call)};
  cl::alias factorAlias{"stepfactor", cl::desc("Alias for -f"), cl::aliasopt(factor), cl::cat(call)};
  cl::opt<std::string> stepBytes{"i", cl::desc("Sizes grow by this many bytes instead, at least 1"),
                                 cl::value_desc("size"), cl::cat(call)};
  cl::alias stepAlias{"stepbytes", cl::desc("Alias for -i"), cl::aliasopt(stepBytes), cl::cat(call)};
  cl::opt<std::string> type{"d", cl::desc("Data type, as in gc3-run (default float)"), cl::value_desc("type"),
                            cl::init("float"), cl::cat(call)};
  cl::alias typeAlias{"datatype", cl::desc("Alias for -d"), cl::aliasopt(type), cl::cat(call)};
  cl::opt<unsigned> slots{"slots", cl::desc("FIFO slots per connection, at least 1 (default the program's)"),
                          cl::value_desc("n"), cl::init(0), cl::cat(call)};
  cl::opt<std::string> slotBytes{
      "slot-bytes", cl::desc("Bytes of a FIFO slot, at least 128 (default as on GPUs: 512KiB, LL 64KiB, LL128 600KiB)"),
      cl::value_desc("size"), cl::cat(call)};

  cl::opt<std::string> baseline{
      "baseline",
      cl::desc("Compare with NCCL's own cost model, or with the programs of a file for the same collective and ranks"),
      cl::value_desc("nccl|file"), cl::cat(call)};
  cl::list<std::string> baselineDefines{"baseline-define",
                                        cl::desc("Set a param of a program in the baseline's FILE.gc3"),
                                        cl::value_desc("name=value"), cl::cat(call)};

  cl::opt<std::string> topology{
      "topology",
      cl::desc("The machine: a name that --list-topologies lists, or a file: JSON, NCCL's XML, or the output of "
               "'nvidia-smi topo -m'; N*FILE is N machines"),
      cl::value_desc("name"), cl::cat(machine)};
  cl::opt<std::string> fit{"fit",
                           cl::desc("Fit the topology's costs, alpha and beta to these measured times of the programs "
                                    "in one or several FILEs; no other prediction"),
                           cl::value_desc("results"), cl::cat(machine)};
  cl::list<std::string> fitConstants{"fit-constants", cl::CommaSeparated,
                                     cl::desc("Fit only these constants (default all that the times determine). none: "
                                              "compare the times with predictions"),
                                     cl::value_desc("name,..."), cl::cat(machine)};
  cl::opt<std::string> fitted{"o", cl::desc("With --fit: write the fitted topology here as JSON"),
                              cl::value_desc("file"), cl::cat(machine)};
  cl::opt<bool> listTopologies{"list-topologies", cl::desc("List the names of topologies, and end"), cl::cat(machine)};

  cl::opt<bool> keepProtocol{
      "keep-protocol",
      cl::desc("Use the protocol of each program also over links where the runtime uses Simple instead: LL and LL128 "
               "over networks, LL128 over PCIe and between hosts"),
      cl::cat(machine)};
  cl::opt<std::string> symmetry{
      "symmetry",
      cl::desc("auto: simulate thread blocks with equal histories once, for the table (default); off: simulate all"),
      cl::value_desc("auto|off"), cl::init("auto"), cl::cat(machine)};

  cl::opt<bool> criticalPath{
      "critical-path", cl::desc("Print where the time of the last row goes, and its chain of steps"), cl::cat(output)};
  cl::opt<bool> resources{"resources", cl::desc("Print the use of each link, port and memory in the last row"),
                          cl::cat(output)};
  cl::opt<std::string> json{"json",
                            cl::desc("Write the rows here as JSON, too; - is standard output, without the table"),
                            cl::value_desc("file"), cl::cat(output)};
  cl::opt<std::string> report{
      "report",
      cl::desc("Write a page for browsers: plots of time, bandwidth and speed-up, use of resources, critical paths"),
      cl::value_desc("file"), cl::cat(output)};
  cl::opt<std::string> trace{
      "trace",
      cl::desc("Write when each instruction of the last row begins and ends, for chrome://tracing and Perfetto"),
      cl::value_desc("file"), cl::cat(output)};
  cl::opt<std::string> ncclTable{
      "nccl-table",
      cl::desc("Write the times of NCCL's own cost model here, as a table for libgc3tuner.so; no FILE, and no other "
               "prediction. The sizes are powers of 2; - is standard output"),
      cl::value_desc("file"), cl::cat(output)};
  cl::opt<bool> quiet{"q", cl::desc("Print no table"), cl::cat(output)};
  cl::alias quietAlias{"quiet", cl::desc("Alias for -q"), cl::aliasopt(quiet), cl::cat(output)};
};

bool reject(const std::string &message) {
  llvm::errs() << "gc3-sim: " << message << '\n';
  return false;
}

bool readSize(const cl::opt<std::string> &option, uint64_t least, uint64_t &size) {
  if (option.getNumOccurrences() == 0)
    return true;
  const std::optional<uint64_t> parsed = common::parseSize(option);
  if (!parsed || *parsed < least)
    return reject((option.ArgStr.size() > 1 ? "--" : "-") + option.ArgStr.str() + " must be a size of at least " +
                  std::to_string(least) + " bytes, not '" + option + "'");
  size = *parsed;
  return true;
}

bool checkRange(const CommandLine &line) {
  const std::string problem = checkSizes(line.minBytes, line.maxBytes);
  return problem.empty() || reject(problem);
}

bool readType(const std::string &name, core::ElementType &type) {
  const std::optional<core::ElementType> known = typeNamed(name);
  if (!known)
    return reject("unknown data type '" + name + "'");
  type = *known;
  return true;
}

bool readDefines(const cl::list<std::string> &option, Defines &defines) {
  const std::string name = (option.ArgStr.size() > 1 ? "--" : "-") + option.ArgStr.str();
  for (const std::string &define : option)
    if (const std::string problem = addDefine(name, define, defines); !problem.empty())
      return reject(problem);
  return true;
}

bool checkOutputs(std::initializer_list<const cl::opt<std::string> *> files) {
  for (auto first = files.begin(); first != files.end(); ++first)
    for (auto second = first + 1; second != files.end(); ++second)
      if (!(*first)->empty() && **first == **second)
        return reject("--" + (*first)->ArgStr.str() + " and --" + (*second)->ArgStr.str() + " can't be the same");
  return true;
}

using OptionList = std::initializer_list<const cl::Option *>;

/// Returns the first of these options that the command line has, with its dashes, or an empty string.
std::string firstGiven(OptionList options) {
  for (const cl::Option *each : options)
    if (each->getNumOccurrences() != 0)
      return (each->ArgStr.size() > 1 ? "--" : "-") + each->ArgStr.str();
  return {};
}

/// Returns the first option that requests something about the prediction of a FILE, or an empty string.
std::string firstOfPredictions(const Table &table) {
  return firstGiven({&table.baseline, &table.criticalPath, &table.resources, &table.json, &table.report, &table.trace,
                     &table.program});
}

/// Checks the options that --nccl-table can be combined with.
bool checkNcclTable(const Table &table) {
  if (!table.inputs.empty())
    return reject("--nccl-table needs no FILE");
  if (!firstOfPredictions(table).empty() || !table.fit.empty() || !table.fitted.empty() || !table.fitConstants.empty())
    return reject("--nccl-table can't be combined with options of predictions or of --fit");
  return true;
}

/// Checks the options that depend on --fit.
bool checkFit(const Table &table) {
  if (table.fit.empty()) {
    if (!table.fitted.empty() || !table.fitConstants.empty())
      return reject("-o and --fit-constants need --fit");
    return table.inputs.size() == 1 || reject("there can be several FILEs only with --fit");
  }
  const bool isComparison = table.fitConstants.size() == 1 && table.fitConstants[0] == "none";
  if (table.fitted.empty() != isComparison)
    return reject(isComparison ? "-o can't be combined with --fit-constants=none" : "--fit needs -o");
  if (const std::string given =
          firstGiven({&table.minBytes, &table.maxBytes, &table.factor, &table.stepBytes, &table.type});
      !given.empty())
    return reject(given + " has no effect with --fit, which uses the sizes and types of the rows");
  const std::string given = firstOfPredictions(table);
  return given.empty() || reject(given + " can't be combined with --fit, which only fits");
}

bool check(const Table &table) {
  if (table.listTopologies)
    return true;
  if (table.inputs.empty() && table.ncclTable.empty())
    return reject("FILE is missing; see gc3-sim --help");
  if (table.topology.empty())
    return reject("--topology is missing; --list-topologies lists some");
  if (!table.ncclTable.empty())
    return checkNcclTable(table);
  if (table.factor < 2)
    return reject("-f must be at least 2, not " + std::to_string(table.factor));
  if (table.symmetry != "auto" && table.symmetry != "off")
    return reject("--symmetry must be auto or off, not '" + table.symmetry + "'");
  if (table.slots.getNumOccurrences() != 0 && table.slots == 0)
    return reject("--slots must be at least 1");
  if (!table.collective.empty() && !common::CollectiveForm::parse(table.collective))
    return reject("--collective must be NAME or NAME(arguments), not '" + table.collective + "'");
  if (!table.baselineDefines.empty() && (table.baseline.empty() || table.baseline == "nccl"))
    return reject("--baseline-define needs --baseline=FILE.gc3");
  return checkFit(table) && checkOutputs({&table.json, &table.report, &table.trace});
}

} // namespace

std::optional<CommandLine> parseCommandLine(int argc, char **argv) {
  Table table;
  cl::SetVersionPrinter([](llvm::raw_ostream &out) { out << "gc3-sim " GC3_SIM_VERSION "\n"; });
  cl::HideUnrelatedOptions({&table.call, &table.machine, &table.output});
  CommandLine line;
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "gc3-sim: predicts the times of the programs of a bundle or of FILE.gc3, FILE.gc3-ir on a topology\n\n"
          "Sizes are bytes of the larger of one rank's input and output; K M G and KiB MiB GiB are powers of 1024, "
          "KB MB GB of 1000.\n\n"
          "Exit status: 0 success, 1 an error, after which no output has changed, 2 wrong command line.\n",
          &llvm::errs()) ||
      !check(table) || !readSize(table.minBytes, 0, line.minBytes) || !readSize(table.maxBytes, 0, line.maxBytes) ||
      !checkRange(line) || !readSize(table.stepBytes, 1, line.stepBytes) ||
      !readSize(table.slotBytes, 128, line.slotBytes) || !readType(table.type, line.type) ||
      !readDefines(table.defines, line.defines) || !readDefines(table.baselineDefines, line.baselineDefines))
    return {};
  line.inputs = table.inputs, line.topology = table.topology;
  line.fit = table.fit, line.fitConstants = table.fitConstants, line.output = table.fitted;
  line.collective = table.collective, line.program = table.program;
  line.baseline = table.baseline;
  line.factor = table.factor, line.slots = table.slots;
  line.keepsProtocol = table.keepProtocol;
  line.useSymmetry = table.symmetry == "auto";
  line.criticalPath = table.criticalPath, line.resources = table.resources;
  line.json = table.json, line.trace = table.trace, line.report = table.report;
  line.ncclTable = table.ncclTable;
  line.listTopologies = table.listTopologies, line.quiet = table.quiet;
  return line;
}

} // namespace gc3::sim
