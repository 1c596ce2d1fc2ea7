// SPDX-License-Identifier: Apache-2.0
// The messages of one step, as the protocols use them.
#pragma once

#include "kernel/Image.h"
#include "kernel/OpcodeFlags.h"

namespace gc3::kernel {

/// The FIFO slots and numbers of a step's messages. Numbers count the messages of a connection from 1.
struct Message {
  const std::byte *in;
  std::byte *out;
  uint64_t inNumber;
  uint64_t outNumber;
};

/// The parameters of a step's data movement, identical for all its runs.
struct Motion {
  OpcodeFlags flags;
  Operation op;
  Message message;
  const uint32_t *stop;
};

} // namespace gc3::kernel
