// SPDX-License-Identifier: Apache-2.0
// Properties of any text that is read as an IR. The fuzzer uses this, and the unit test that mutates texts.
#pragma once

#include <string>

namespace gc3::ir {
struct Program;
}

namespace gc3::test {

/// Reads the text as GC3-IR and as the Instruction DAG, with small budgets. Accepted text must print to a text that
/// prints identically when read again. The program is scheduled and verified, and a proven program must make a bundle
/// that loads. Returns the property that does not hold, or an empty string. Increments `accepted` for each program that
/// was read.
std::string checkText(const std::string &text, unsigned &accepted);

/// Checks that Verify gives the same verdict with hashes and with multisets. If the program is proven, checks that its
/// bundle loads.
std::string checkVerdicts(const ir::Program &program);

/// Checks a program that gc3 compiled: Verify must prove it, and its bundle must load.
std::string checkCompiled(const ir::Program &program);

} // namespace gc3::test
