// SPDX-License-Identifier: Apache-2.0
// What must hold of any text that is read as an IR, however broken. Used by the fuzzer and by the unit test that
// mutates texts.
#pragma once

#include <string>

namespace gc3::ir {
struct Program;
}

namespace gc3::test {

/// Reads the text as GC3-IR and as the Instruction DAG, with small budgets. What is accepted must print to a text that
/// prints the same when read again; it is scheduled and verified; and what is verified must make a bundle that loads.
/// Returns what did not hold, or an empty string. `accepted` counts programs that were read.
std::string checkText(const std::string &text, unsigned &accepted);

/// Whether hashes and multisets have one verdict on the program; if it is proven, its bundle loads.
std::string checkVerdicts(const ir::Program &program);

/// What must hold of a program that gc3 itself has made: Verify proves it, and its bundle loads.
std::string checkCompiled(const ir::Program &program);

} // namespace gc3::test
