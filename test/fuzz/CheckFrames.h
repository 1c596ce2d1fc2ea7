// SPDX-License-Identifier: Apache-2.0
// Properties that must hold for any bytes that another program sends to an exchanger. The fuzzer checks them, and so
// does FrameTest, which changes bytes.
#pragma once

#include "net/Frame.h"

#include <cstdint>
#include <string>

namespace gc3::test {

/// Reads the bytes as a greeting, and as frames. What is accepted must be within its ranges, and give the same bytes
/// when it is written. Returns the property that does not hold, or an empty string. Increments `accepted` for each
/// frame.
std::string checkFrames(net::Bytes bytes, uint32_t &accepted);

} // namespace gc3::test
