// SPDX-License-Identifier: Apache-2.0
// Entry point of libFuzzer for bundles. The seeds are small programs. fuzz-bundle uses the mutations of libFuzzer.
// fuzz-mended-bundle uses MutateBundle.cpp, which keeps the checksums correct.
#include "CheckBundle.h"
#include "Property.h"
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  unsigned ran = 0;
  return gc3::test::judge(gc3::test::checkBundle({reinterpret_cast<const char *>(data), size}, ran));
}
