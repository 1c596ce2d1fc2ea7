// SPDX-License-Identifier: Apache-2.0
// The messages of one step as the protocols see them.
#pragma once

#include "device/Does.h"
#include "device/Image.h"

namespace gc3::device {

/// Slots of FIFOs; numbers count the messages of a connection from 1.
struct Message {
  const std::byte *in;
  std::byte *out;
  uint64_t inNumber;
  uint64_t outNumber;
};

/// What moves a step's data, the same for all its runs.
struct Motion {
  Does does;
  Operation op;
  Message message;
  const uint32_t *stop;
};

} // namespace gc3::device
