// SPDX-License-Identifier: Apache-2.0
// What must hold of any bytes that are taken for a bundle, however broken. Used by the fuzzers and by the unit test
// that changes bundles number by number.
#pragma once

#include <string>
#include <string_view>

namespace gc3::test {

/// Loads the bytes as a job would, takes its postconditions apart as gc3-run does, and runs each program without asking
/// for its proof: with counts that its slots divide and that they don't, fairly and adversarially, out of place and in
/// place. Each step ends well or in one of the errors that gc3.h names for it, with a text; and out of place the send
/// buffers stay as they are. Buffers are as long as the bundle says and no longer, so that sanitizers see what leaves
/// them. Returns what did not hold, or an empty string. `ran` counts runs that came to a good end.
std::string checkBundle(std::string_view bytes, unsigned &ran);

} // namespace gc3::test
