// SPDX-License-Identifier: Apache-2.0
// Entry point of libFuzzer for the bytes that a process receives from other hosts.
#include "CheckTransport.h"
#include "Property.h"
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint32_t accepted = 0;
  return gc3::test::judge(gc3::test::checkTransport({data, size}, accepted));
}
