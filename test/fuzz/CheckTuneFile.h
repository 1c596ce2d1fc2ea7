// SPDX-License-Identifier: Apache-2.0
// Properties that must hold for any text that is read as learned times. The fuzzer checks them, and so does
// TuneFileTest, which changes texts.
#pragma once

#include <cstdint>
#include <string>

namespace gc3::test {

/// Reads the text as learned times. A refusal must have a line. Accepted contents must be within their ranges, and give
/// a text that reads as the same contents. Returns the property that does not hold, or an empty string. Increments
/// `accepted` if the text was read.
std::string checkTuneFile(const std::string &text, uint32_t &accepted);

} // namespace gc3::test
