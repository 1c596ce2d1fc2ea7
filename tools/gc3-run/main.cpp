// SPDX-License-Identifier: Apache-2.0
// gc3-run: runs a bundle's programs on real data, checks every element, prints the table of nccl-tests.
#include "Job.h"
#include "Runner.h"
#include "trace/TraceFile.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

/// Returns an error text if a trace is incomplete. All communicators must have been destroyed.
static std::string checkTrace(const std::string &path) {
  if (path.empty())
    return {};
  gc3::trace::TraceFile *file = gc3::trace::TraceFile::named(path);
  return file && !file->hasFailed() ? "" : "the trace '" + path + "' is incomplete";
}

int main(int argc, char **argv) {
  using namespace gc3::run;
  Options options;
  switch (parseOptions(argc, argv, options)) {
  case Action::Exit: return 0;
  case Action::UsageError: return 2;
  case Action::Run: break;
  }
  try {
    Job job;
    Summary summary;
    std::string problem = checkOutputs(options);
    if (problem.empty())
      problem = Runner(options, job).run(summary);
    if (problem.empty())
      problem = checkTrace(options.trace);
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
