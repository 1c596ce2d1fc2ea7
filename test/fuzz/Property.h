// SPDX-License-Identifier: Apache-2.0
// How a fuzzer tells libFuzzer what its check found: the input that breaks a property ends the process, and is kept.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace gc3::test {

/// For LLVMFuzzerTestOneInput to return. `problem` is what did not hold, or empty.
inline int judge(const std::string &problem) {
  if (problem.empty())
    return 0;
  std::fprintf(stderr, "%s\n", problem.c_str());
  std::abort();
}

} // namespace gc3::test
