// SPDX-License-Identifier: Apache-2.0
// The protocols that the runtime can use between two ranks. comm::protocolOf has the same rule for the links of real
// GPUs: a program with a connection that can't carry its protocol runs under Simple.
#pragma once

#include "gc3/Simulate/Fabric.h"
#include "kernel/Image.h"

namespace gc3::simulate {

/// Returns why messages of the protocol can't go from one rank to another, such as "a network joins ranks 7 and 8", or
/// an empty string. Ranks without a way between them have no reason.
std::string whyNotCarried(const Fabric &fabric, kernel::Protocol protocol, uint32_t from, uint32_t to);

} // namespace gc3::simulate
