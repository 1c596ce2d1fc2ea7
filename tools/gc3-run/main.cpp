// SPDX-License-Identifier: Apache-2.0
// gc3-run: runs a bundle's programs on real data, checks every element, prints the table of nccl-tests.
#include "JoinJob.h"
#include "LocalProcesses.h"
#include "Runner.h"
#include "core/Settings.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

using namespace gc3;
using namespace gc3::run;

/// Returns an error text if process 0 has other options.
static std::string compareOptions(const Options &options, const std::vector<std::string> &arguments, Job &job) {
  std::string own;
  for (const std::string &argument : arguments)
    own += argument + " ";
  own += options.trace.empty() ? "without a trace" : "with the trace " + options.trace;
  const Share all = job.meet({.text = own});
  return !all.problem.empty() || own == all.text ? all.problem
                                                 : "runs '" + own + "', but rank 0 runs '" + all.text + "'";
}

static std::string runRows(const Options &options, Job &job, Summary &summary) {
  try {
    std::string problem = Runner(options, job).run(summary);
    if (problem.empty() && !options.json.empty())
      problem = writeJson(options.json, options, summary);
    if (problem.empty() && (std::fflush(stdout) != 0 || std::ferror(stdout)))
      problem = std::string("can't write to standard output: ") + std::strerror(errno);
    return problem;
  } catch (const std::exception &error) {
    return error.what();
  }
}

/// Runs the bundle as one process of the job. Returns the exit status, which is the same in all processes.
static int runBundle(Options options, const std::vector<std::string> &arguments, Job &job) {
  options.processes = job.processes();
  std::string problem = compareOptions(options, arguments, job);
  if (!job.isFirst())
    options.json.clear(), options.quiet = true;
  if (problem.empty())
    problem = checkOutputs(options);
  problem = job.agree(problem);
  Summary summary;
  if (problem.empty())
    problem = job.agree(runRows(options, job, summary));
  if (!problem.empty() && job.printsProblems())
    std::fprintf(stderr, "gc3-run: %s\n", problem.c_str());
  return problem.empty() && summary.wrong == 0 ? 0 : 1;
}

/// Returns a text such as "Open MPI has started 4".
static std::string describe(const job::Launch &launch) {
  const std::string ranks = std::to_string(launch.ranks);
  return launch.launcher == "gc3" ? "GC3_RANKS is " + ranks : launch.launcher + " has started " + ranks;
}

/// Returns why the options do not suit a job of several processes, which a launcher has started.
static std::string checkLaunch(const Options &options, const job::Launch &launch) {
  if (options.processes != 0)
    return "option '--processes' starts processes, but " + describe(launch) + "; leave it out";
  if (options.backend == Backend::Cuda)
    return "--backend cuda runs all ranks in one process, but " + describe(launch) + "; start one";
  if (options.backend == Backend::Nccl && launch.localRanks == 0)
    return "--backend nccl chooses a GPU by GC3_LOCAL_RANK and GC3_LOCAL_RANKS, which are not set";
  return {};
}

/// Prints a problem, and returns the exit status.
static int fail(const std::string &problem, int status) {
  std::fprintf(stderr, "gc3-run: %s\n", problem.c_str());
  return status;
}

/// Runs the bundle in a process that a launcher has started together with others.
static int runLaunched(const Options &options, const std::vector<std::string> &arguments, const job::Launch &launch) {
  if (const std::string problem = checkLaunch(options, launch); !problem.empty())
    return launch.rank == 0 ? fail(problem, 2) : 2;
  core::Result<Job> job = joinJob(launch);
  return job.ok() ? runBundle(options, arguments, *job)
                  : fail("rank " + std::to_string(launch.rank) + ": " + job.outcome().text, 1);
}

int main(int argc, char **argv) {
  setenv("UCX_LOG_FILE", "stderr", 0); // UCX writes to standard output by default. No other thread reads variables yet
  try {
    const core::Result<std::optional<job::Launch>> launch = job::readLaunch(core::environment());
    const bool isFirst = !launch.ok() || !*launch || (*launch)->rank == 0;
    Options options;
    std::string error;
    switch (parseOptions(argc, argv, options, error)) {
    case Action::Exit: return 0;
    case Action::UsageError: return isFirst ? fail(error, 2) : 2;
    case Action::Run: break;
    }
    if (!launch.ok())
      return fail(launch.outcome().text, 1);
    const std::vector<std::string> arguments = argumentsOfProcesses(argc, argv);
    if (*launch && (*launch)->ranks > 1)
      return runLaunched(options, arguments, **launch);
    if (options.processes > 1)
      return runLocalProcesses(options.processes, arguments);
    Job job;
    return runBundle(options, arguments, job);
  } catch (const std::exception &exception) {
    return fail(exception.what(), 1);
  }
}
