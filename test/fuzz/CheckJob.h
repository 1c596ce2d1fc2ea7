// SPDX-License-Identifier: Apache-2.0
// Properties that must hold for any bytes of a unique id, of another rank, and of an environment. The fuzzer checks
// them, and so does MutationTest, which changes bytes.
#pragma once

#include "net/Greeting.h"

#include <cstdint>
#include <string>

namespace gc3::test {

/// Reads the bytes as each format of runtime/job: the first byte chooses. What is accepted must be within its ranges,
/// and give the same bytes when it is written. Returns the property that does not hold, or an empty string. Increments
/// `accepted` if the bytes are accepted.
std::string checkJob(net::Bytes bytes, uint32_t &accepted);

} // namespace gc3::test
