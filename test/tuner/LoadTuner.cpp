// SPDX-License-Identifier: Apache-2.0
// load-tuner: calls a tuner plugin as NCCL does, and prints what NCCL would run. Needs neither NCCL nor a GPU.
#include "FakeNccl.h"
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

using namespace gc3::test;

namespace {

constexpr const char *usage =
    "usage: load-tuner PLUGIN [--nccl=2.27] [--shape=RANKSxNODES]... [--without=ALGORITHM/PROTOCOL]... "
    "[--threads=N] COLLECTIVE:BYTES...\n";

struct Options {
  std::string plugin, nccl = "2.30";
  std::vector<Shape> shapes;
  std::vector<std::string> without, calls;
  unsigned threads = 0;
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
    else if (options.plugin.empty())
      options.plugin = word;
    else
      options.calls.emplace_back(word);
  }
  if (options.shapes.empty())
    options.shapes.push_back({8, 1});
  return options;
}

/// Makes a communicator, runs all calls on it, and returns one line for each.
std::string runCalls(const TunerPlugin &plugin, const Shape &shape, const Options &options) {
  std::string lines;
  Communicator communicator(plugin, shape);
  for (const std::string &call : options.calls) {
    const size_t colon = call.find(':');
    lines += communicator.run(call.substr(0, colon), std::stoull(call.substr(colon + 1)), options.without) + "\n";
  }
  return lines;
}

/// Runs all calls in several threads, each with its own communicators. Returns false if a thread gets other lines.
bool runThreads(const TunerPlugin &plugin, const Options &options, const std::vector<std::string> &expected) {
  std::vector<std::thread> threads;
  std::vector<uint8_t> agrees(options.threads, true);
  for (unsigned thread = 0; thread < options.threads; ++thread)
    threads.emplace_back([&, thread] {
      for (unsigned round = 0; round < 20; ++round)
        for (size_t i = 0; i < options.shapes.size(); ++i)
          if (runCalls(plugin, options.shapes[i], options) != expected[i])
            agrees[thread] = false;
    });
  for (std::thread &each : threads)
    each.join();
  return std::find(agrees.begin(), agrees.end(), false) == agrees.end();
}

} // namespace

int main(int argc, char **argv) {
  const Options options = parse(argc, argv);
  if (options.plugin.empty()) {
    std::fputs(usage, stderr);
    return 2;
  }
  std::string error;
  const std::optional<TunerPlugin> plugin = TunerPlugin::open(options.plugin, options.nccl, error);
  if (!plugin) {
    std::fprintf(stderr, "load-tuner: %s\n", error.c_str());
    return 1;
  }
  std::printf("NCCL %s uses %s '%s'\n", options.nccl.c_str(), plugin->symbol().c_str(), plugin->name());
  std::vector<std::string> expected;
  for (const Shape &shape : options.shapes) {
    std::printf("%zu ranks, nodes %zu\n", shape.ranks, shape.nodes);
    std::fputs(expected.emplace_back(runCalls(*plugin, shape, options)).c_str(), stdout);
  }
  setLogging(false);
  if (options.threads == 0)
    return 0;
  const bool agree = runThreads(*plugin, options, expected);
  std::printf("%u threads %s\n", options.threads, agree ? "agree" : "DIFFER");
  return agree ? 0 : 1;
}
