// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry for bundles, begun with small programs: as they come (fuzz-bundle), or with MutateBundle.cpp, which
// gets past the checksums (fuzz-mended-bundle).
#include "CheckBundle.h"
#include "Property.h"
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  unsigned ran = 0;
  return gc3::test::judge(gc3::test::checkBundle({reinterpret_cast<const char *>(data), size}, ran));
}
