// SPDX-License-Identifier: Apache-2.0
// Entry point of libFuzzer for the texts that --from reads. The seeds are outputs of --emit=gc3-ir and --emit=inst-dag.
#include "CheckText.h"
#include "Property.h"
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  unsigned accepted = 0;
  return gc3::test::judge(gc3::test::checkText({reinterpret_cast<const char *>(data), size}, accepted));
}
