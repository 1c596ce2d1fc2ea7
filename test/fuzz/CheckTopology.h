// SPDX-License-Identifier: Apache-2.0
// Properties that must hold for any text that is read as a topology. The fuzzer checks them, and so does TopologyTest,
// which changes texts.
#pragma once

#include <cstdint>
#include <string>

namespace gc3::test {

/// Reads the text as a file of a topology, in any format. The printed form of an accepted text must read back and print
/// identically. The simulator must find a route for each link. Returns the property that does not hold, or an empty
/// string. Increments `accepted` if the text was read.
std::string checkTopology(const std::string &text, uint32_t &accepted);

} // namespace gc3::test
