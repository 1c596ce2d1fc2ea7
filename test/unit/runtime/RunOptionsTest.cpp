// SPDX-License-Identifier: Apache-2.0
// Tests the library of gc3-run: sizes, command line and output.
#include "RunSupport.h"
#include "TraceCheck.h"
#include "TraceSupport.h"
#include "cuda/Cuda.h"

#include <filesystem>

using namespace gc3::run;
using namespace gc3::test;

TEST(Run, SizesFollowTheDispatchTable) {
  ProgramSpec small = ringAllReduce(2, true), large = plainRingAllReduce(2);
  small.maxBytes = 4096;
  large.minBytes = 4096;
  BundlePath bundle({small, large});
  Options options;
  options.bundle = bundle.path;
  options.maxBytes = 8 << 10;
  options.iterations = 1;
  Result result = runOptions(options);
  ASSERT_EQ(result.summary.rows.size(), 4u) << result.problem;
  EXPECT_EQ(result.summary.rows[1].program, small.name);
  EXPECT_EQ(result.summary.rows[2].program, large.name);
  EXPECT_EQ(result.summary.rows[2].bytes, 4096u);
  EXPECT_NE(result.table.find("# Out of bounds values : 0 OK"), std::string::npos);
  options.maxBytes = 1 << 10;
  options.collective = "alltoall";
  EXPECT_NE(runOptions(options).problem.find("no such program"), std::string::npos);
}

TEST(Run, ReportsSizesWithoutAProgramAndRefusesHugeCounts) {
  ProgramSpec small = ringAllReduce(2, true);
  small.maxBytes = 4096;
  BundlePath bundle({small});
  Options options;
  options.bundle = bundle.path;
  options.maxBytes = 16 << 10;
  options.iterations = 0;
  EXPECT_NE(runOptions(options).table.find(
                "# no program of the bundle is for sizes 4096 to 16384 bytes (allreduce on 2 ranks)\n"),
            std::string::npos);
  options.minBytes = 8 << 10;
  const Result none = runOptions(options);
  EXPECT_EQ(none.table, "");
  EXPECT_EQ(none.problem, bundle.path +
                              ": no program is selected for these sizes; --program runs one at any size; the "
                              "bundle has:\n  '" +
                              small.name + "': allreduce on 2 ranks, 0 to 4095 bytes");
  options.program = "all";
  for (uint64_t count : {uint64_t{1} << 60, uint64_t{1} << 61, uint64_t{1} << 62, UINT64_MAX}) {
    options.counts = {count};
    for (gc3DataType_t type : {gc3Float32, gc3Float64}) {
      options.types = {type};
      EXPECT_NE(runOptions(options).problem, "");
    }
  }
}

TEST(Run, WritesJson) {
  BundlePath bundle({ringAllReduce(2, true)});
  Options options = checkOnly(bundle.path);
  Result result = runOptions(options);
  std::string path = bundle.path + ".json";
  ASSERT_EQ(writeJson(path, options, result.summary), "");
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_NE(text.find("\"program\": \"ring2_aliased_1\", \"ranks\": 2, \"bytes\": 4, \"count\": 1"), std::string::npos)
      << text;
  std::remove(path.c_str());
  EXPECT_NE(writeJson("/nonexistent/x.json", options, result.summary), "");
  EXPECT_NE(checkWritable("/nonexistent/x.json"), "");
  EXPECT_NE(checkWritable(::testing::TempDir()), "");
  EXPECT_EQ(checkWritable(path), "");
  EXPECT_FALSE(std::filesystem::exists(path));
  std::filesystem::create_symlink(path, path + ".link");
  for (int i = 0; i < 2; ++i) { // at first the target of the link does not exist; then it is a file
    EXPECT_EQ(checkWritable(path + ".link"), "");
    EXPECT_EQ(writeJson(path + ".link", options, result.summary), "");
    EXPECT_TRUE(std::filesystem::is_symlink(path + ".link"));
    EXPECT_TRUE(std::filesystem::is_regular_file(path));
  }
  std::remove((path + ".link").c_str());
  std::remove(path.c_str());
  EXPECT_EQ(writeJson("/dev/null", options, result.summary), "");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(Run, BusBandwidthFactors) {
  EXPECT_EQ(busFactor("allreduce", 4), 1.5);
  EXPECT_EQ(busFactor("alltoall", 4), 0.75);
  EXPECT_EQ(busFactor("broadcast", 4), 1);
  EXPECT_EQ(busFactor("my_own", 4), 1);
}

TEST(Run, WritesATrace) {
  const ProgramSpec spec = ringAllReduce(2, true);
  BundlePath bundle({spec});
  TracePath path;
  Options options;
  options.bundle = bundle.path;
  options.counts = {9};
  options.iterations = 2;
  options.warmup = 1;
  options.rounds = 1;
  options.inPlace = false;
  options.trace = path.name;
  EXPECT_EQ(runOptions(options).problem, "");
  EXPECT_EQ(checkTrace(Trace(path.name), {LoadedSpec(spec).program.get(), {1, 2, 3, 4}}), "");
}

using Parsed = std::pair<Action, std::string>; ///< with the error

Parsed parse(std::vector<std::string> words, Options &options) {
  words.insert(words.begin(), "gc3-run");
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  std::string error;
  const Action action = parseOptions(static_cast<int>(argv.size()), argv.data(), options, error);
  return {action, error};
}

TEST(Run, CommandLine) {
  Options options;
  EXPECT_EQ(parse({"b", "-b", "2K", "-e", "3MB", "-d", "half,int8", "-o", "all", "--inplace=1", "--count", "0,7",
                   "--trace=t", "--trace-sizes", "3"},
                  options)
                .first,
            Action::Run);
  Options once;
  EXPECT_EQ(parse({"b", "-o", "sum,max,sum"}, once).first, Action::Run);
  EXPECT_EQ(once.ops, (std::vector<Reduction>{Reduction::Sum, Reduction::Max}));
  EXPECT_EQ(options.minBytes, 2048u);
  EXPECT_EQ(options.maxBytes, 3000000u);
  EXPECT_EQ(options.types, (std::vector<gc3DataType_t>{gc3Float16, gc3Int8}));
  EXPECT_EQ(options.ops.size(), 6u);
  EXPECT_EQ(options.trace, "t");
  EXPECT_EQ(options.tracedSizes, 3u);
  EXPECT_FALSE(options.outOfPlace);
  EXPECT_EQ(options.counts, (std::vector<uint64_t>{0, 7}));
  for (const std::vector<std::string> &words :
       std::vector<std::vector<std::string>>{{},
                                             {"b", "c"},
                                             {"b", "-x"},
                                             {"b", "-b"},
                                             {"b", "-b", "1Q"},
                                             {"b", "-b", "-1"},
                                             {"b", "-f", "1"},
                                             {"b", "-d", "quad"},
                                             {"b", "-b", "2M", "-e", "1M"},
                                             {"b", "--count", "99999999999999999999999"},
                                             {"b", "--seed", "99999999999999999999999"},
                                             {"b", "-b", "0x10"},
                                             {"b", "-e", "1T", "-i", "1"},
                                             {"b", "--processes", "4097"},
                                             {"b", "--processes", "-1"},
                                             {"b", "--baseline", "rccl"},
                                             {"b", "--order", "odd"}}) {
    Options unused;
    EXPECT_EQ(parse(words, unused).first, Action::UsageError);
  }
  Options several;
  EXPECT_EQ(parse({"b", "--processes=8"}, several).first, Action::Run);
  EXPECT_EQ(several.processes, 8u);
  EXPECT_EQ(options.processes, 0u);
}

TEST(Run, Backends) {
  Options host, wrong;
  EXPECT_EQ(parse({"b", "--backend", "host"}, host), Parsed(Action::Run, ""));
  EXPECT_EQ(host.backend, Backend::Host);
  EXPECT_NE(parse({"b", "--backend", "gpu"}, wrong).second.find("expected host|cuda|nccl: "), std::string::npos);
  for (Backend backend : {Backend::Cuda, Backend::Nccl}) {
    Options options;
    const std::string name = backendName(backend);
    const std::string problem =
        "--backend " + name + " needs an NVIDIA GPU, and this gc3-run was built without CUDA; use --backend host";
    EXPECT_EQ(parse({"b", "--backend", name}, options),
              gc3::cuda::linkedCuda() ? Parsed(Action::Run, "") : Parsed(Action::UsageError, problem));
    EXPECT_EQ(options.backend, backend);
  }
}

TEST(Run, OptionsOfOtherBackends) {
  Options host, baseline;
  EXPECT_EQ(parse({"b", "--ranks-per-gpu", "2"}, host),
            Parsed(Action::UsageError, "option '--ranks-per-gpu' has no effect with --backend host; it needs "
                                       "--backend cuda"));
  EXPECT_EQ(parse({"b", "--baseline", "nccl", "--processes", "2"}, baseline),
            Parsed(Action::UsageError, "option '--baseline' has no effect with --backend host; it needs "
                                       "--backend nccl"));
  for (const std::vector<std::string> &option : std::vector<std::vector<std::string>>{{"--workers", "2"},
                                                                                      {"--tile-elements", "5"},
                                                                                      {"--order", "adversarial"},
                                                                                      {"--seed", "3"},
                                                                                      {"--processes", "2"}}) {
    Options onGpu;
    const std::string needed = option[0] == "--processes" ? "host or nccl" : "host";
    EXPECT_EQ(parse({"b", option[0], option[1], "--backend", "cuda"}, onGpu),
              Parsed(Action::UsageError,
                     "option '" + option[0] + "' has no effect with --backend cuda; it needs --backend " + needed));
  }
}

TEST(Run, ArgumentsOfProcesses) {
  std::vector<std::string> words = {"gc3-run", "--processes", "8", "b", "-n", "2", "--processes=4", "--quiet"};
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  EXPECT_EQ(argumentsOfProcesses(static_cast<int>(argv.size()), argv.data()),
            (std::vector<std::string>{"b", "-n", "2", "--quiet"}));
}
