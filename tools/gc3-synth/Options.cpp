// SPDX-License-Identifier: Apache-2.0
// Defines the options, and checks which options can be combined.
#include "Options.h"
#include "Task.h"
#include "gc3/Synth/Synthesis.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace gc3::synth {

namespace {

namespace cl = llvm::cl;

/// The options live only during the parse; none is global.
struct Table {
  cl::OptionCategory problem{"Problem"};
  cl::OptionCategory goal{"Goal"};
  cl::OptionCategory search{"Search"};
  cl::OptionCategory output{"Output"};

  cl::opt<std::string> topology{
      "topology",
      cl::desc("The machine: a name that --list-topologies lists, or a file: JSON, NCCL's XML, or the output of "
               "'nvidia-smi topo -m'; N*FILE is N machines"),
      cl::value_desc("name"), cl::cat(problem)};
  cl::opt<std::string> collective{
      "collective",
      cl::desc("allgather, allreduce, alltoall, broadcast, gather, reduce, reduce_scatter, "
               "scatter, or one of a file that only moves chunks: 'FILE.gc3:NAME(ARGUMENTS)'"),
      cl::value_desc("name"), cl::cat(problem)};
  cl::opt<unsigned> chunks{
      "chunks",
      cl::desc(
          "Chunks of one rank's input in allgather and gather, of one rank's output in reduce_scatter and scatter, "
          "and of the whole buffer in the others (default: the fewest possible)"),
      cl::value_desc("n"), cl::init(0), cl::cat(problem)};
  cl::opt<unsigned> root{"root", cl::desc("The root, of collectives that have one (default 0)"), cl::value_desc("rank"),
                         cl::init(0), cl::cat(problem)};
  cl::opt<bool> inPlace{
      "in-place",
      cl::desc("For alltoall: make a program for calls in place (default: out of place; for the other "
               "standard collectives one program fits both)"),
      cl::cat(problem)};

  cl::opt<unsigned> steps{"steps", cl::desc("Look for an algorithm of so many steps"), cl::value_desc("n"), cl::init(0),
                          cl::cat(goal)};
  cl::opt<unsigned> rounds{"rounds", cl::desc("With --steps: so many rounds in all steps together (default: one each)"),
                           cl::value_desc("n"), cl::init(0), cl::cat(goal)};
  cl::opt<bool> leastSteps{"least-steps", cl::desc("Look for the fewest steps"), cl::cat(goal)};
  cl::opt<bool> pareto{"pareto",
                       cl::desc("Look for all that trade steps for rounds per chunk: a program for each, for "
                                "the sizes for which it is the fastest"),
                       cl::cat(goal)};
  cl::opt<unsigned> extra{"k", cl::desc("With --least-steps and --pareto: rounds beyond one for each step (default 0)"),
                          cl::value_desc("n"), cl::init(0), cl::cat(goal)};
  cl::opt<unsigned> maxSteps{
      "max-steps",
      cl::desc("With --least-steps and --pareto: at most this many steps (default: the lower bound plus ten)"),
      cl::value_desc("n"), cl::init(0), cl::cat(goal)};

  cl::opt<std::string> method{"method",
                              cl::desc("solver: an exact search, up to some 16 ranks; greedy: few rounds, for "
                                       "thousands of ranks, by flow where possible (default: "
                                       "solver with --steps, --least-steps or --pareto, else greedy)"),
                              cl::value_desc("name"), cl::cat(search)};
  cl::opt<unsigned> tries{
      "tries",
      cl::desc("For the greedy search: the number of tries; the best result is kept (default: 64, fewer if they take "
               "long); flow needs no tries"),
      cl::value_desc("n"), cl::init(0), cl::cat(search)};
  cl::opt<unsigned> roundsPerStep{"rounds-per-step",
                                  cl::desc("For the greedy search and flow: more rounds make fewer steps (default 1)"),
                                  cl::value_desc("n"), cl::init(1), cl::cat(search)};
  cl::opt<unsigned> timeLimit{
      "time-limit",
      cl::desc("Seconds for the whole search; each instance of --pareto and --least-steps gets a tenth (default 600)"),
      cl::value_desc("s"), cl::init(600), cl::cat(search)};
  cl::opt<unsigned> seed{"seed", cl::desc("Another number may find another program (default 0)"), cl::value_desc("n"),
                         cl::init(0), cl::cat(search)};

  cl::opt<std::string> out{"o", cl::desc("Write the program here (default: -, standard output)"),
                           cl::value_desc("file"), cl::init("-"), cl::cat(output)};
  cl::opt<std::string> json{"json", cl::desc("Also write all trials and results here, as JSON; - is standard output"),
                            cl::value_desc("file"), cl::cat(output)};
  cl::opt<unsigned> progress{
      "progress",
      cl::desc("Report the current trial every so many seconds, between two tries of the solver (default 10)"),
      cl::value_desc("s"), cl::init(10), cl::cat(output)};
  cl::opt<bool> quiet{"quiet", cl::desc("Report no progress"), cl::cat(output)};
  cl::opt<bool> printTopology{"print-topology", cl::desc("Print the topology as JSON, and end"), cl::cat(output)};
  cl::opt<bool> listTopologies{"list-topologies", cl::desc("List the names of topologies, and end"), cl::cat(output)};
};

bool reject(const std::string &message) {
  llvm::errs() << "gc3-synth: " << message << '\n';
  return false;
}

bool given(const cl::Option &option) {
  return option.getNumOccurrences() != 0;
}

bool check(const Table &table) {
  struct Rule {
    bool broken;
    const char *message;
  };
  const bool isSearch = !table.listTopologies && !table.printTopology, isSeveral = table.leastSteps || table.pareto;
  const int goals = given(table.steps) + table.leastSteps + table.pareto;
  const bool isGreedy = goals == 0, isOfFile = isCustom(table.collective);
  const Rule rules[] = {
      {!table.listTopologies && table.topology.empty(), "--topology is missing; --list-topologies lists some"},
      {isSearch && table.collective.empty(), "--collective is missing; see gc3-synth --help"},
      {isSearch && table.inPlace && table.collective != "alltoall",
       "--in-place needs --collective=alltoall; programs of the other standard collectives have a param 'inplace', and "
       "a collective of a file determines its placement"},
      {isSearch && goals > 1, "give only one of --steps, --least-steps and --pareto"},
      {given(table.method) && table.method != "solver" && table.method != "greedy",
       "--method must be solver or greedy"},
      {table.method == "solver" && isGreedy, "--method=solver needs one of --steps, --least-steps and --pareto"},
      {table.method == "greedy" && !isGreedy, "--method=greedy takes none of --steps, --least-steps and --pareto"},
      {given(table.tries) && !isGreedy, "--tries needs --method=greedy"},
      {given(table.tries) && table.tries == 0, "--tries takes at least 1"},
      {given(table.roundsPerStep) && !isGreedy, "--rounds-per-step needs --method=greedy"},
      {given(table.roundsPerStep) && table.roundsPerStep == 0, "--rounds-per-step takes at least 1"},
      {given(table.steps) && table.steps == 0, "--steps takes at least 1"},
      {given(table.rounds) && !given(table.steps), "--rounds needs --steps"},
      {given(table.rounds) && table.rounds < table.steps, "--rounds takes at least one for each of --steps"},
      {given(table.extra) && !isSeveral, "-k needs --least-steps or --pareto"},
      {given(table.maxSteps) && !isSeveral, "--max-steps needs --least-steps or --pareto"},
      {given(table.maxSteps) && table.maxSteps == 0, "--max-steps takes at least 1"},
      {given(table.chunks) && table.pareto, "--pareto determines the number of chunks; leave --chunks out"},
      {given(table.chunks) && table.chunks == 0, "--chunks takes at least 1"},
      {table.timeLimit == 0, "--time-limit takes at least 1"},
      {!table.json.empty() && table.json == table.out && isSearch, "-o and --json can't be the same"},
      {isSearch && isOfFile && given(table.chunks),
       "--chunks needs a standard collective; a collective of a file determines its chunks"},
      {isSearch && isOfFile && given(table.root),
       "--root needs a standard collective; a collective of a file determines its root"},
  };
  for (const Rule &rule : rules)
    if (rule.broken)
      return reject(rule.message);
  const std::pair<const cl::opt<unsigned> &, unsigned> limits[] = {
      {table.steps, 1000},   {table.tries, 1000000}, {table.roundsPerStep, 1000}, {table.rounds, 10000},
      {table.chunks, 65536}, {table.extra, 1000},    {table.maxSteps, 1000}};
  for (const auto &[option, most] : limits)
    if (option > most)
      return reject((option.ArgStr.size() > 1 ? "--" : "-") + option.ArgStr.str() + " takes at most " +
                    std::to_string(most) + ", not " + std::to_string(option));
  return true;
}

/// Returns the word, in quotes if a shell needs them.
std::string quoted(const std::string &word) {
  const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./";
  if (word.find_first_not_of(plain) == std::string::npos && !word.empty())
    return word;
  std::string result = "'";
  for (char c : word)
    result += c == '\'' ? "'\\''" : c == '\n' ? " " : std::string(1, c);
  return result + "'";
}

} // namespace

std::optional<CommandLine> parseCommandLine(int argc, char **argv) {
  Table table;
  cl::SetVersionPrinter(
      [](llvm::raw_ostream &out) { out << "gc3-synth " GC3_VERSION " with " << solverVersion() << '\n'; });
  cl::HideUnrelatedOptions({&table.problem, &table.goal, &table.search, &table.output});
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "gc3-synth: finds programs of collectives for a topology\n\n"
          "Exit status: 0 found, 1 an error, 2 wrong command line, 3 no program exists, 4 the time limit was reached "
          "or the search was interrupted before it was complete; programs found by then are written.\n",
          &llvm::errs()) ||
      !check(table))
    return {};
  CommandLine line;
  line.topology = table.topology, line.collective = table.collective;
  line.goal = table.pareto         ? Goal::Pareto
              : table.leastSteps   ? Goal::LeastSteps
              : given(table.steps) ? Goal::Instance
                                   : Goal::FewRounds;
  line.progress = table.progress, line.tries = table.tries, line.roundsPerStep = table.roundsPerStep;
  line.steps = table.steps, line.rounds = table.rounds ? table.rounds : table.steps;
  line.chunks = table.chunks, line.root = table.root, line.inPlace = table.inPlace, line.extraRounds = table.extra,
  line.maxSteps = table.maxSteps;
  line.timeLimit = table.timeLimit, line.seed = table.seed, line.out = table.out, line.json = table.json;
  line.listTopologies = table.listTopologies, line.printTopology = table.printTopology, line.quiet = table.quiet;
  line.spelled = "gc3-synth";
  for (int i = 1; i < argc; ++i)
    line.spelled += " " + quoted(argv[i]);
  return line;
}

} // namespace gc3::synth
