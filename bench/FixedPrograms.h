// SPDX-License-Identifier: Apache-2.0
// What the benchmarks of online selection share: checks of results, and a tuner that always chooses one program.
#pragma once

#include "gc3.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace bench {

[[noreturn]] inline void fail(const std::string &what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

inline void check(gc3Result_t result) {
  if (result != gc3Success)
    fail(gc3GetLastError(nullptr));
}

/// A tuner that always chooses the program whose index `data` points to.
inline int chooseFixed(const gc3TunerCall_t *, void *data) {
  return *static_cast<const int *>(data);
}

} // namespace bench
