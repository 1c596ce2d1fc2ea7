// SPDX-License-Identifier: Apache-2.0
// Properties that must hold for any text that is read as a table of NCCL's times. The fuzzer checks them, and so does
// TableTest, which changes texts.
#pragma once

#include <cstdint>
#include <string>

namespace gc3::test {

/// Reads the text as a table. The printed form of an accepted text must read back and print identically. All choices
/// among its rows must keep the rules of tuner/Choices.h. Returns the property that does not hold, or an empty string.
/// Increments `accepted` if the text was read.
std::string checkTable(const std::string &text, uint32_t &accepted);

} // namespace gc3::test
