// SPDX-License-Identifier: Apache-2.0
// Helpers for tests of gc3-run's library.
#pragma once

#include "Programs.h"

#include "Runner.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace gc3::test {

using run::Options;
using run::Runner;
using run::Summary;

/// A temporary file with a bundle.
class BundlePath {
public:
  explicit BundlePath(const std::vector<ProgramSpec> &programs) : path(freshPath()) {
    std::ofstream(path, std::ios::binary) << buildBundle(programs);
  }
  ~BundlePath() { std::remove(path.c_str()); }
  const std::string path;

private:
  static std::string freshPath() {
    std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(name.begin(), name.end(), '/', '-'); // names of parametrised tests contain slashes
    return ::testing::TempDir() + "gc3-run-test-" + name + "-" + std::to_string(getpid()) + ".gc3b";
  }
};

struct Result {
  std::string problem, table;
  Summary summary;
};

inline Result runOptions(const Options &options) {
  Result result;
  ::testing::internal::CaptureStdout();
  run::Job job;
  result.problem = Runner(options, job).run(result.summary);
  result.table = ::testing::internal::GetCapturedStdout();
  return result;
}

inline Options checkOnly(const std::string &path) {
  Options options;
  options.bundle = path;
  options.program = "all";
  options.iterations = 0;
  options.counts = {0, 1, 3, 17, 1000};
  return options;
}

inline void useAllTypesAndOps(Options &options) {
  options.types.clear();
  options.ops.clear();
  for (int t = 0; t < gc3NumTypes; ++t)
    options.types.push_back(static_cast<gc3DataType_t>(t));
  for (int o = 0; o < run::reductionCount; ++o)
    options.ops.push_back(static_cast<run::Reduction>(o));
}

} // namespace gc3::test
