// SPDX-License-Identifier: Apache-2.0
// The main function of programs that only measure: NAME [--json FILE] prints tables, and appends the same numbers to
// FILE. The exit status is 77 without a GPU.
#pragma once

#include "Replay.h"
#include "Report.h"

#include <cstdio>
#include <cstring>
#include <cuda_runtime_api.h>

namespace bench {

/// Calls `measure` with a report. Returns the exit status.
inline int runMeasurement(int argc, char **argv, const char *name, void (*measure)(Report &)) {
  const bool hasFile = argc == 3 && std::strcmp(argv[1], "--json") == 0;
  if (argc != 1 && !hasFile) {
    std::fprintf(stderr, "usage: %s [--json FILE]\n", name);
    return 2;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("SKIPPED: no GPU\n");
    return 77;
  }
  try {
    Report report(hasFile ? argv[2] : "");
    measure(report);
  } catch (const Failure &failure) {
    std::fprintf(stderr, "%s: %s\n", name, failure.what());
    return 1;
  }
  return 0;
}

} // namespace bench
