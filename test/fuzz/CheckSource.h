// SPDX-License-Identifier: Apache-2.0
// Properties that must hold for any text that is compiled as .gc3. The fuzzer checks them.
#pragma once

#include <string>

namespace gc3::test {

/// Compiles the text in all stages, with small budgets. Compilation must end with errors that can be printed, or with
/// programs that Verify proves and whose bundle loads. The printed syntax tree must parse, and must then print
/// identically. Returns the property that does not hold, or an empty string. Increments `compiled` for each program
/// that was scheduled.
std::string checkSource(const std::string &text, unsigned &compiled);

} // namespace gc3::test
