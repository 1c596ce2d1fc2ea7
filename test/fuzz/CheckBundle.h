// SPDX-License-Identifier: Apache-2.0
// Properties that must hold for any bytes that are loaded as a bundle. The fuzzers check them, and so does HostileTest,
// which changes each number of a bundle.
#pragma once

#include <string>
#include <string_view>

namespace gc3::test {

/// Loads the bytes as an application does, decodes the postconditions as gc3-run does, and runs each program without
/// requiring its proof. Runs use counts that split evenly into slots and counts that do not, both orders, out of place
/// and in place. Each function must succeed, or return one of the errors that gc3.h documents for it, with a message.
/// Out of place, the send buffers must not change. Buffers have exactly the lengths that the bundle states, so that
/// sanitizers detect accesses outside of them. Returns the property that does not hold, or an empty string. Increments
/// `ran` for each run that succeeds.
std::string checkBundle(std::string_view bytes, unsigned &ran);

} // namespace gc3::test
