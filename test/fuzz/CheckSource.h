// SPDX-License-Identifier: Apache-2.0
// What must hold of any text that is compiled as .gc3, however broken. Used by the fuzzer.
#pragma once

#include <string>

namespace gc3::test {

/// Takes the text through all stages, with small budgets. It ends in errors that can be printed, or in programs that
/// Verify proves and that make a bundle which loads; and its syntax tree prints to a text that prints the same when
/// parsed again. Returns what did not hold, or an empty string. `compiled` counts programs that came to the end.
std::string checkSource(const std::string &text, unsigned &compiled);

} // namespace gc3::test
