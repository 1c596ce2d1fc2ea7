// SPDX-License-Identifier: Apache-2.0
// Entry point of libFuzzer: `fuzz-read-bundle CORPUS`. The seeds are small bundles.
#include "CheckImport.h"
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  unsigned accepted = 0;
  std::string problem = gc3::test::checkBundle({reinterpret_cast<const char *>(data), size}, accepted);
  if (problem.empty())
    return 0;
  std::fprintf(stderr, "%s\n", problem.c_str());
  std::abort();
}
