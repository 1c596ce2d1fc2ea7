// SPDX-License-Identifier: Apache-2.0
// One table of options serves parsing and --help. A value is the next word, or follows '='. The error message about a
// wrong value contains the option's help, so the help must state the range.
#include "Options.h"

#include "gc3/Common/CollectiveForm.h"
#include "gc3/Common/Size.h"

#include "core/Element.h"
#include "core/SettingText.h"
#include "core/Settings.h"
#include "cuda/Cuda.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace gc3::run {

namespace {

std::optional<uint64_t> parseNumber(const std::string &text) {
  char *end = nullptr;
  if (text.empty() || text[0] < '0' || text[0] > '9')
    return std::nullopt;
  errno = 0;
  uint64_t value = std::strtoull(text.c_str(), &end, 10);
  return *end || errno == ERANGE ? std::nullopt : std::optional(value);
}

template <typename Number>
bool store(const std::string &text, Number &target, uint64_t lowest = 0, uint64_t highest = UINT64_MAX) {
  auto value = parseNumber(text);
  if (!value || *value < lowest || *value > highest)
    return false;
  target = static_cast<Number>(*value);
  return true;
}

bool storeSize(const std::string &text, uint64_t &target) {
  auto value = common::parseSize(text);
  if (value)
    target = *value;
  return value.has_value();
}

/// Other names of data types, such as PyTorch's, each with the name that nccl-tests uses.
constexpr const char *typeAliases[][2] = {{"float16", "half"},      {"fp16", "half"},      {"float32", "float"},
                                          {"fp32", "float"},        {"float64", "double"}, {"fp64", "double"},
                                          {"bf16", "bfloat16"},     {"fp8e4m3", "f8e4m3"}, {"float8_e4m3fn", "f8e4m3"},
                                          {"float8e4m3", "f8e4m3"}, {"fp8e5m2", "f8e5m2"}, {"float8_e5m2", "f8e5m2"},
                                          {"float8e5m2", "f8e5m2"}};

bool isNamed(const std::string &text, const char *name) {
  const auto isAlias = [&](const auto &alias) { return text == alias[0] && std::strcmp(name, alias[1]) == 0; };
  return text == name || std::any_of(std::begin(typeAliases), std::end(typeAliases), isAlias);
}

/// Parses a comma-separated list of names, or 'all'. Ignores duplicates.
template <typename Value>
bool storeNames(const std::string &text, std::vector<Value> &target, int count, const char *(*nameOf)(Value)) {
  target.clear();
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string name = text.substr(begin, end - begin);
    bool known = false;
    for (int i = 0; i < count; ++i) {
      auto value = static_cast<Value>(i);
      if (name != "all" && !isNamed(name, nameOf(value)))
        continue;
      known = true;
      if (std::find(target.begin(), target.end(), value) == target.end())
        target.push_back(value);
    }
    if (!known)
      return false;
    begin = end + 1;
  }
  return true;
}

bool storeCounts(const std::string &text, std::vector<uint64_t> &target) {
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    auto value = parseNumber(text.substr(begin, end - begin));
    if (!value)
      return false;
    target.push_back(*value);
    begin = end + 1;
  }
  return true;
}

/// A set of backends.
struct Backends {
  bool host, cuda, nccl;
  constexpr bool have(Backend backend) const {
    switch (backend) {
    case Backend::Host: return host;
    case Backend::Cuda: return cuda;
    case Backend::Nccl: return nccl;
    }
    __builtin_unreachable();
  }
};
constexpr Backends anyBackend{true, true, true}, onlyHost{true, false, false}, onlyCuda{false, true, false},
    onlyNccl{false, false, true}, inProcesses{true, false, true};
constexpr Backend backendList[] = {Backend::Host, Backend::Cuda, Backend::Nccl};

struct Option {
  const char *shortName; ///< "" if there is none
  const char *longName;  ///< "" if there is none
  const char *value;     ///< name of the value in the help
  const char *help;
  bool (*set)(const std::string &, Options &);
  Backends backends = anyBackend; ///< those that use this option
};

constexpr Option optionTable[] = {
    {"", "--collective", "C", "only programs of this collective: NAME, or NAME(arguments) such as 'shift(by = 1)'",
     [](auto &v, Options &o) {
       o.collective = v;
       return !v.empty() && common::CollectiveForm::parse(v);
     }},
    {"", "--program", "NAME", "run this program at any size; all: run each program",
     [](auto &v, Options &o) {
       o.program = v;
       return !v.empty();
     }},
    {"-b", "--minbytes", "SIZE", "smallest size (default 1KiB)",
     [](auto &v, Options &o) { return storeSize(v, o.minBytes); }},
    {"-e", "--maxbytes", "SIZE", "largest size (default 64MiB)",
     [](auto &v, Options &o) { return storeSize(v, o.maxBytes); }},
    {"-f", "--stepfactor", "N", "sizes grow by this factor, at least 2 (default 2)",
     [](auto &v, Options &o) { return store(v, o.factor, 2); }},
    {"-i", "--stepbytes", "SIZE", "sizes grow by this many bytes instead, at least 1",
     [](auto &v, Options &o) { return storeSize(v, o.stepBytes) && o.stepBytes > 0; }},
    {"", "--count", "N[,N...]", "these element counts per block instead of sizes",
     [](auto &v, Options &o) { return storeCounts(v, o.counts); }},
    {"-d", "--datatype", "TYPE",
     "int8 uint8 int32 uint32 int64 uint64 half float double bfloat16 f8e4m3 f8e5m2, a list, or all",
     [](auto &v, Options &o) { return storeNames(v, o.types, gc3NumTypes, typeName); }},
    {"-o", "--op", "OP", "sum prod max min avg mulsum, a list, or all; mulsum: rank r multiplies by 2 - r % 2 before",
     [](auto &v, Options &o) { return storeNames(v, o.ops, reductionCount, nameOf); }},
    {"-n", "--iters", "N", "timed runs, 0 to 2147483647 (default up to 20 in half a second)",
     [](auto &v, Options &o) { return store(v, o.iterations, 0, INT32_MAX); }},
    {"-w", "--warmup", "N", "untimed runs before the timed ones, 0 to 2147483647 (default a quarter)",
     [](auto &v, Options &o) { return store(v, o.warmup, 0, INT32_MAX); }},
    {"-c", "--check", "0|1", "check every element (default 1)",
     [](auto &v, Options &o) { return store(v, o.check, 0, 1); }},
    {"", "--inplace", "0|1|both", "placement (default both)",
     [](auto &v, Options &o) {
       o.outOfPlace = v == "0" || v == "both", o.inPlace = v == "1" || v == "both";
       return o.outOfPlace || o.inPlace;
     }},
    {"", "--rounds", "N", "checked runs per row, 1 to 2147483647 (default: until every contribution shows, 64 at most)",
     [](auto &v, Options &o) { return store(v, o.rounds, 1, INT32_MAX); }},
    {"", "--slots", "N", "FIFO slots per connection, 1 to 4294967295 (default the program's)",
     [](auto &v, Options &o) { return store(v, o.host.slots, 1, UINT32_MAX); }},
    {"", "--slot-bytes", "SIZE", "bytes of a FIFO slot, which limit the tile size, at least 1 (default 128KiB)",
     [](auto &v, Options &o) { return storeSize(v, o.host.slotBytes) && o.host.slotBytes > 0; }},
    {"", "--tile-elements", "N", "elements of a slot per tile, at least 1",
     [](auto &v, Options &o) { return store(v, o.host.tileElements, 1); }, onlyHost},
    {"", "--workers", "N", "largest number of threads, 1 to 4096 (default the machine's)",
     [](auto &v, Options &o) { return store(v, o.host.workers, 1, 4096); }, onlyHost},
    {"", "--order", "fair|adversarial", "order of steps; adversarial: one at a time, chosen to break wrong programs",
     [](auto &v, Options &o) {
       o.host.order = v == "adversarial" ? gc3OrderAdversarial : gc3OrderFair;
       return v == "fair" || v == "adversarial";
     },
     onlyHost},
    {"", "--seed", "N", "seed of the adversarial order, less than 2^64 (default 0)",
     [](auto &v, Options &o) { return store(v, o.host.seed); }, onlyHost},
    {"", "--nodes", "N",
     "the ranks are on N nodes, each with equally many consecutive ranks, 1 to 65536; selects the programs for these "
     "nodes (default: the hosts of the ranks)",
     [](auto &v, Options &o) { return store(v, o.host.nodes, 1, 65536); }},
    {"", "--processes", "N",
     "start N processes, 1 to 4096, each with an equal number of the ranks (default: all ranks in this process)",
     [](auto &v, Options &o) { return store(v, o.processes, 1, 4096); }, inProcesses},
    {"", "--allow-unproven", "0|1", "run programs that were compiled without verification, too (default 0)",
     [](auto &v, Options &o) { return store(v, o.host.allowUnproven, 0, 1); }},
    {"", "--json", "FILE", "write the table as JSON, too; - is standard output, without the table",
     [](auto &v, Options &o) {
       o.json = v;
       return !v.empty();
     }},
    {"", "--trace", "FILE",
     "write when each instruction began and ended, for chrome://tracing and Perfetto (default: GC3_TRACE)",
     [](auto &v, Options &o) {
       o.trace = v;
       return !v.empty();
     }},
    {"", "--trace-sizes", "N|all", "with --trace: trace the first N sizes of each collective, at least 1 (default 1)",
     [](auto &v, Options &o) {
       o.tracedSizes = UINT64_MAX;
       return v == "all" || store(v, o.tracedSizes, 1);
     }},
    {"", "--backend", "host|cuda|nccl",
     "where to run (default host); cuda: all ranks on the current GPU; nccl: one rank and GPU for each process, of "
     "--processes or a launcher. cuda and nccl need a build with CUDA",
     [](auto &v, Options &o) {
       const auto *found = std::find_if(std::begin(backendList), std::end(backendList),
                                        [&](Backend each) { return v == backendName(each); });
       if (found != std::end(backendList))
         o.backend = *found;
       return found != std::end(backendList);
     }},
    {"", "--baseline", "nccl",
     "time NCCL's own collective, too, in turns with the program, and print both times; with --backend nccl",
     [](auto &v, Options &o) {
       o.timesNccl = v == "nccl";
       return o.timesNccl;
     },
     onlyNccl},
    {"", "--ranks-per-gpu", "N", "ranks on the GPU with --backend cuda; must be all ranks of the program (default)",
     [](auto &v, Options &o) { return store(v, o.ranksPerGpu, 1, UINT32_MAX); }, onlyCuda},
};

/// An option of nccl-tests that gc3-run does not have.
struct ForeignOption {
  const char *shortName;
  const char *longName;
  const char *advice;
};

constexpr char setByProgram[] = "a program fixes its ranks and its root: choose one with --program";
constexpr char ofNccl[] = "leave it out: it configures NCCL or CUDA streams, which gc3-run does not use";
constexpr char ofTiming[] = "leave it out: times are averages over the runs, which -n sets; --trace times each step";

constexpr ForeignOption foreignOptions[] = {
    {"-g", "--ngpus", setByProgram},
    {"-t", "--nthreads", setByProgram},
    {"-r", "--root", setByProgram},
    {"-m", "--agg_iters", ofTiming},
    {"-a", "--average", ofTiming},
    {"-C", "--report_cputime", ofTiming},
    {"-I", "--per_iter_timing", ofTiming},
    {"-K", "--per_iter_skip", ofTiming},
    {"-S", "--report_timestamps", "use --trace FILE"},
    {"-J", "--output_file", "use --json FILE"},
    {"", "--warmup_iters", "use -w or --warmup"},
    {"-N", "--run_cycles", "run gc3-run several times"},
    {"-T", "--timeout", "set GC3_TIMEOUT_MS in the environment"},
    {"-p", "--parallel_init", ofNccl},
    {"-z", "--blocking", ofNccl},
    {"-y", "--stream_null", ofNccl},
    {"-G", "--cudagraph", ofNccl},
    {"-R", "--local_register", ofNccl},
    {"-x", "--cta_policy", ofNccl},
    {"-D", "--device_implementation", ofNccl},
    {"-V", "--device_cta_count", ofNccl},
    {"-M", "--memory", ofNccl},
    {"-u", "--unalign", "leave it out: gc3-run allocates aligned buffers"},
};

void printHelp() {
  std::printf("usage: gc3-run BUNDLE [options]\n\n"
              "Runs the programs of a bundle on real data, checks every element and prints how long they take.\n"
              "Sizes are bytes of the larger of one rank's input and output; K M G and KiB MiB GiB are powers of 1024, "
              "KB MB GB of 1000.\n\n"
              "Exit status: 0 success, 1 a wrong element or an error, 2 wrong command line.\n\noptions:\n");
  for (const Option &option : optionTable) {
    std::string names = option.shortName;
    names += *option.shortName && *option.longName ? ", " : "";
    names += option.longName;
    std::printf("  %-24s %-18s %s\n", names.c_str(), option.value, option.help);
  }
  const char *const words[][2] = {
      {"-q, --quiet", "print no table: errors and the exit status are the result"},
      {"--settings", "environment variables that the runtime reads, with their values; no BUNDLE"},
      {"-h, --help", "this text"},
      {"--version", "the version"}};
  for (const auto &[name, help] : words)
    std::printf("  %-24s %-18s %s\n", name, "", help);
}

/// Prints the text of an option without a value. Returns false if `word` is not such an option.
bool printFor(const std::string &word) {
  if (word == "--help" || word == "-h")
    printHelp();
  else if (word == "--version")
    std::printf("gc3-run %d.%d.%d\n", GC3_MAJOR, GC3_MINOR, GC3_PATCH);
  else if (word == "--settings")
    std::printf("%s", core::settingsTable(core::settings()).c_str());
  else
    return false;
  return true;
}

template <typename Entry, size_t n>
const Entry *findOption(const Entry (&table)[n], const std::string &name) {
  const auto isIt = [&](const Entry &each) { return name == each.shortName || name == each.longName; };
  const Entry *found = std::find_if(std::begin(table), std::end(table), isIt);
  return name.empty() || found == std::end(table) ? nullptr : found;
}

std::string unknownOption(const std::string &name) {
  const ForeignOption *foreign = findOption(foreignOptions, name);
  return foreign ? "option '" + name + "' is an option of nccl-tests: " + foreign->advice
                 : "unknown option '" + name + "'; see --help";
}

/// Returns an error if a given option has no effect with the chosen backend.
std::string findMisplaced(const std::vector<const Option *> &given, Backend chosen) {
  for (const Option *option : given) {
    if (option->backends.have(chosen))
      continue;
    std::string needed;
    for (const Backend backend : backendList)
      if (option->backends.have(backend))
        needed += (needed.empty() ? "" : " or ") + std::string(backendName(backend));
    return std::string("option '") + option->longName + "' has no effect with --backend " + backendName(chosen) +
           "; it needs --backend " + needed;
  }
  return {};
}

} // namespace

const char *backendName(Backend backend) {
  switch (backend) {
  case Backend::Host: return "host";
  case Backend::Cuda: return "cuda";
  case Backend::Nccl: return "nccl";
  }
  __builtin_unreachable();
}

const char *typeName(gc3DataType_t type) {
  return core::elementTypeName(static_cast<core::ElementType>(type));
}

std::vector<std::string> argumentsOfProcesses(int argc, char **argv) {
  constexpr std::string_view option = "--processes";
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i)
    if (argv[i] == option)
      ++i; // skips the value, too
    else if (!std::string_view(argv[i]).starts_with("--processes="))
      arguments.emplace_back(argv[i]);
  return arguments;
}

Action parseOptions(int argc, char **argv, Options &options, std::string &error) {
  const auto complain = [&](std::string text) {
    error = std::move(text);
    return Action::UsageError;
  };
  std::vector<const Option *> given;
  bool choosesTracedSizes = false;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (printFor(word))
      return Action::Exit;
    if (word == "--quiet" || word == "-q") {
      options.quiet = true;
      continue;
    }
    if (word.empty() || word[0] != '-') {
      if (!options.bundle.empty())
        return complain("unexpected argument '" + word + "'; the bundle is '" + options.bundle + "'");
      options.bundle = word;
      continue;
    }
    size_t equals = word.rfind("--", 0) == 0 ? word.find('=') : std::string::npos;
    std::string name = word.substr(0, equals);
    const Option *option = findOption(optionTable, name);
    if (!option)
      return complain(unknownOption(name));
    if (equals == std::string::npos && ++i == argc)
      return complain("option '" + name + "' needs a value: " + option->value);
    given.push_back(option);
    choosesTracedSizes |= name == "--trace-sizes";
    std::string value = equals == std::string::npos ? argv[i] : word.substr(equals + 1);
    if (!option->set(value, options))
      return complain("invalid value '" + value + "' for option '" + name + "'; expected " + option->value + ": " +
                      option->help);
  }
  if (options.bundle.empty())
    return complain("no bundle; usage: gc3-run BUNDLE [options]");
  if (options.trace.empty())
    options.trace = core::settings().text(core::Setting::Trace);
  if (const std::string misplaced = findMisplaced(given, options.backend); !misplaced.empty())
    return complain(misplaced);
  if (options.backend != Backend::Host && !cuda::linkedCuda())
    return complain(std::string("--backend ") + backendName(options.backend) +
                    " needs an NVIDIA GPU, and this gc3-run was built without CUDA; use --backend host");
  if (choosesTracedSizes && options.trace.empty())
    return complain("option '--trace-sizes' has no effect without --trace FILE or GC3_TRACE");
  options.quiet |= options.json == "-";
  if (options.minBytes > options.maxBytes)
    return complain("there are no sizes from " + std::to_string(options.minBytes) + " to " +
                    std::to_string(options.maxBytes) + " bytes; -e must be at least -b");
  constexpr uint64_t mostSizes = 100000;
  if (uint64_t steps = options.stepBytes ? (options.maxBytes - options.minBytes) / options.stepBytes : 0;
      steps >= mostSizes && options.counts.empty())
    return complain("sizes from " + std::to_string(options.minBytes) + " to " + std::to_string(options.maxBytes) +
                    " bytes by " + std::to_string(options.stepBytes) + " are " + std::to_string(steps + 1) +
                    ", more than " + std::to_string(mostSizes) + "; use a larger -i, or -f");
  return Action::Run;
}

} // namespace gc3::run
