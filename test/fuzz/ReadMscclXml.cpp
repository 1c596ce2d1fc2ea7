// SPDX-License-Identifier: Apache-2.0
// Entry point of libFuzzer: `fuzz-read-msccl-xml -dict=msccl-xml.dict CORPUS`. The seeds are outputs of
// --emit=msccl-xml.
#include "CheckImport.h"
#include "Property.h"
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  unsigned accepted = 0;
  return gc3::test::judge(gc3::test::checkMscclXml({reinterpret_cast<const char *>(data), size}, accepted));
}
