// SPDX-License-Identifier: Apache-2.0
// Properties of any file of another format. The fuzzers use this, and the unit test that mutates files.
#pragma once

#include <string>

namespace gc3::test {

/// Reads the text as MSCCL XML, with small budgets, and adds the promises of its collective. An accepted program must
/// print to GC3-IR that prints identically when read again. The program is verified, by hash and exactly with the same
/// verdict, and cut into the messages of the MSCCL runtimes. If the exporter accepts the program, the exported text
/// must import and export to the same text. Returns the property that does not hold, or an empty string. Increments
/// `accepted` for each program that was read.
std::string checkMscclXml(const std::string &text, unsigned &accepted);

/// Reads the bytes as a bundle, after correcting its checksums, so that the reader gets past them. Accepted programs
/// are verified, by hash and exactly with the same verdict. A proven program must make a bundle that is accepted, too.
std::string checkBundle(std::string bytes, unsigned &accepted);

} // namespace gc3::test
