// SPDX-License-Identifier: Apache-2.0
// gc3-run: runs a bundle's programs on real data, checks every element, prints the table of nccl-tests.
#include "Runner.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

int main(int argc, char **argv) {
  using namespace gc3::run;
  Options options;
  switch (parseOptions(argc, argv, options)) {
  case Action::Exit: return 0;
  case Action::UsageError: return 2;
  case Action::Run: break;
  }
  try {
    Summary summary;
    std::string problem = checkOutputs(options);
    if (problem.empty())
      problem = Runner(options).run(summary);
    if (problem.empty() && !options.json.empty())
      problem = writeJson(options.json, options, summary);
    if (problem.empty() && (std::fflush(stdout) != 0 || std::ferror(stdout)))
      problem = std::string("can't write to standard output: ") + std::strerror(errno);
    if (!problem.empty())
      std::fprintf(stderr, "gc3-run: %s\n", problem.c_str());
    return problem.empty() && summary.wrong == 0 ? 0 : 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "gc3-run: %s\n", error.what());
    return 1;
  }
}
