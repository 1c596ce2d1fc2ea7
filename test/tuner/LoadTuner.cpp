// SPDX-License-Identifier: Apache-2.0
// load-tuner: calls libgc3tuner.so as NCCL does, and prints what NCCL would run. Needs neither NCCL nor a GPU.
#include "FakeNccl.h"
#include "FakeProfiler.h"
#include <algorithm>
#include <cstdio>
#include <string_view>
#include <thread>

using namespace gc3::test;

namespace {

constexpr const char *usage =
    "usage: load-tuner PLUGIN [--nccl=2.27|...|later] [--shape=RANKSxNODES]... [--without=ALGORITHM/PROTOCOL]... "
    "[--threads=N] [--measure=CALLS] [--rank=N] [--time] COLLECTIVE:BYTES...\n";

struct Options {
  std::string plugin, nccl = "2.30";
  std::vector<Shape> shapes;
  std::vector<std::string> without, calls;
  unsigned threads = 0;
  unsigned measure = 0; ///< 0: without the profiler
  int rank = 0;
  bool isTimed = false; ///< print the time of a choice
};

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::string value(word.substr(std::min(word.find('=') + 1, word.size())));
    if (word.starts_with("--nccl="))
      options.nccl = value;
    else if (word.starts_with("--shape="))
      options.shapes.push_back({std::stoul(value), std::stoul(value.substr(value.find('x') + 1))});
    else if (word.starts_with("--without="))
      options.without.push_back(value);
    else if (word.starts_with("--threads="))
      options.threads = static_cast<unsigned>(std::stoul(value));
    else if (word.starts_with("--measure="))
      options.measure = static_cast<unsigned>(std::stoul(value));
    else if (word.starts_with("--rank="))
      options.rank = std::stoi(value);
    else if (word == "--time")
      options.isTimed = true;
    else if (options.plugin.empty())
      options.plugin = word;
    else
      options.calls.emplace_back(word);
  }
  if (options.shapes.empty())
    options.shapes.push_back({8, 1});
  return options;
}

/// Makes a communicator, and chooses for all calls on it.
std::vector<Choice> choose(const Tuner &tuner, const Shape &shape, const Options &options) {
  std::vector<Choice> choices;
  const Communicator communicator(tuner, shape);
  for (const std::string &call : options.calls) {
    const size_t colon = call.find(':');
    choices.push_back(communicator.choose(call.substr(0, colon), std::stoull(call.substr(colon + 1)), options.without));
  }
  return choices;
}

std::string textOf(const std::vector<Choice> &choices) {
  std::string text;
  for (const Choice &choice : choices)
    text += choice.text() + "\n";
  return text;
}

/// Chooses in several threads, each with its own communicators. Returns false if a thread makes other choices.
bool runThreads(const Tuner &tuner, const Options &options, const std::vector<std::string> &expected) {
  std::vector<std::thread> threads;
  std::vector<uint8_t> agrees(options.threads, true);
  for (unsigned thread = 0; thread < options.threads; ++thread)
    threads.emplace_back([&, thread] {
      for (unsigned round = 0; round < 20; ++round)
        for (size_t i = 0; i < options.shapes.size(); ++i)
          if (textOf(choose(tuner, options.shapes[i], options)) != expected[i])
            agrees[thread] = false;
    });
  for (std::thread &each : threads)
    each.join();
  return std::find(agrees.begin(), agrees.end(), false) == agrees.end();
}

void measure(const PluginFile &file, const Options &options, const Shape &shape, const std::vector<Choice> &choices) {
  Profiler profiler(file, options.nccl, shape, options.rank);
  std::printf("the profiler has version %d\n", profiler.version());
  for (unsigned number = 0; number < options.measure; ++number)
    for (const Choice &choice : choices)
      profiler.report(choice, shape.ranks, number);
}

} // namespace

int main(int argc, char **argv) {
  const Options options = parse(argc, argv);
  if (options.plugin.empty()) {
    std::fputs(usage, stderr);
    return 2;
  }
  const PluginFile file(options.plugin);
  const Tuner tuner(file, options.nccl);
  std::printf("NCCL %s uses version %d of '%s'\n", options.nccl.c_str(), tuner.version(), tuner.name());
  std::vector<std::string> expected;
  for (const Shape &shape : options.shapes) {
    std::printf("%zu ranks, nodes %zu\n", shape.ranks, shape.nodes);
    const std::vector<Choice> choices = choose(tuner, shape, options);
    std::fputs(expected.emplace_back(textOf(choices)).c_str(), stdout);
    if (options.isTimed)
      std::printf("getCollInfo takes %.0f ns\n", Communicator(tuner, shape).timeOf(choices.front()));
    if (options.measure != 0)
      measure(file, options, shape, choices);
  }
  setLogging(false);
  if (options.threads == 0)
    return 0;
  const bool agree = runThreads(tuner, options, expected);
  std::printf("%u threads %s\n", options.threads, agree ? "agree" : "DIFFER");
  return agree ? 0 : 1;
}
