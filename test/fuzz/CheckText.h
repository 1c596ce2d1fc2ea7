// SPDX-License-Identifier: Apache-2.0
// Properties that must hold for any text that is read as an IR. The fuzzer checks them, and so does TextTest, which
// mutates texts.
#pragma once

#include <string>

namespace gc3::ir {
struct Program;
}

namespace gc3::test {

/// Reads the text as GC3-IR and as the Instruction DAG, with small budgets. The printed form of accepted text must read
/// back and print identically. The program is scheduled and verified. If it is proven, its bundle must load. Returns
/// the property that does not hold, or an empty string. Increments `accepted` for each program that was read.
std::string checkText(const std::string &text, unsigned &accepted);

/// Checks that Verify gives the same verdict with hashes and with multisets. If the program is proven, checks that its
/// bundle loads.
std::string checkVerdicts(const ir::Program &program);

/// Checks a program that gc3 compiled: Verify must prove it, and its bundle must load.
std::string checkCompiled(const ir::Program &program);

} // namespace gc3::test
