// SPDX-License-Identifier: Apache-2.0
// Entry point of libFuzzer for .gc3 text. The seeds are the examples and the compiler's tests.
#include "CheckSource.h"
#include "Property.h"
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  unsigned compiled = 0;
  return gc3::test::judge(gc3::test::checkSource({reinterpret_cast<const char *>(data), size}, compiled));
}
