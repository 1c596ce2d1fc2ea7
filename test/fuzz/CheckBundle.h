// SPDX-License-Identifier: Apache-2.0
// Properties of any bytes that are loaded as a bundle. The fuzzers use this, and the unit test that changes bundles
// number by number.
#pragma once

#include <string>
#include <string_view>

namespace gc3::test {

/// Loads the bytes as a job does, decodes their postconditions as gc3-run does, and runs each program without requiring
/// its proof. Runs use counts that its slots divide and counts that they do not, both orders, out of place and in
/// place. Each function must succeed or return one of the errors that gc3.h documents for it, with a message. Out of
/// place the send buffers must not change. Buffers have exactly the lengths that the bundle states, so that sanitizers
/// detect accesses outside of them. Returns the property that does not hold, or an empty string. Increments `ran` for
/// each run that succeeds.
std::string checkBundle(std::string_view bytes, unsigned &ran);

} // namespace gc3::test
