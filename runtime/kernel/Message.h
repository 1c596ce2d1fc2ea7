// SPDX-License-Identifier: Apache-2.0
// The messages of one step as the protocols see them.
#pragma once

#include "kernel/Image.h"
#include "kernel/OpcodeFlags.h"

namespace gc3::kernel {

/// Slots of FIFOs; numbers count the messages of a connection from 1.
struct Message {
  const std::byte *in;
  std::byte *out;
  uint64_t inNumber;
  uint64_t outNumber;
};

/// What moves a step's data, the same for all its runs.
struct Motion {
  OpcodeFlags flags;
  Operation op;
  Message message;
  const uint32_t *stop;
};

} // namespace gc3::kernel
