// SPDX-License-Identifier: Apache-2.0
// Properties of any text that is compiled as .gc3. The fuzzer uses this.
#pragma once

#include <string>

namespace gc3::test {

/// Compiles the text in all stages, with small budgets. Compilation must end in errors that can be printed, or in
/// programs that Verify proves and whose bundle loads. The printed syntax tree must parse, and print
/// identically again. Returns the property that does not hold, or an empty string. Increments `compiled` for each
/// program that was scheduled.
std::string checkSource(const std::string &text, unsigned &compiled);

} // namespace gc3::test
