// SPDX-License-Identifier: Apache-2.0
// Reports the result of a check to libFuzzer: a failure aborts the process, and libFuzzer keeps the input.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace gc3::test {

/// Returns the result for LLVMFuzzerTestOneInput. Aborts unless `problem` is empty.
inline int judge(const std::string &problem) {
  if (problem.empty())
    return 0;
  std::fprintf(stderr, "%s\n", problem.c_str());
  std::abort();
}

} // namespace gc3::test
