// SPDX-License-Identifier: Apache-2.0
// Entry point of libFuzzer for the bytes that the ranks of a job receive.
#include "CheckJob.h"
#include "Property.h"
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint32_t accepted = 0;
  return gc3::test::judge(gc3::test::checkJob({data, size}, accepted));
}
