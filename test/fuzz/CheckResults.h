// SPDX-License-Identifier: Apache-2.0
// Properties that must hold for any text that is read as measured times. The fuzzer checks them, and so does
// ResultsTest, which changes texts.
#pragma once

#include <cstdint>
#include <string>

namespace gc3::test {

/// Reads the text as measured times. An accepted text must have rows, and each row a time above 0. Reading it again
/// must add the same rows. Returns the property that does not hold, or an empty string. Increments `accepted` if the
/// text was read.
std::string checkResults(const std::string &text, uint32_t &accepted);

} // namespace gc3::test
