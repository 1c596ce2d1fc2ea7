// SPDX-License-Identifier: Apache-2.0
// Properties that must hold for any MSCCL XML file or bundle that gc3c imports. The fuzzers check them, and so does
// ImportTest, which mutates files.
#pragma once

#include <string>

namespace gc3::test {

/// Reads the text as MSCCL XML, with small budgets, and adds the promises of its collective. The GC3-IR of an accepted
/// program must read back and print identically. Verify must give the same verdict with hashes and exactly. The program
/// is also cut into the messages of the MSCCL runtimes. If the exporter accepts the program, the exported text must
/// import and export to the same text. Returns the property that does not hold, or an empty string. Increments
/// `accepted` for each program that was read.
std::string checkMscclXml(const std::string &text, unsigned &accepted);

/// Corrects the checksums of the bytes, so that the reader gets past them, and reads the bytes as a bundle. Verify must
/// give the same verdict on an accepted program with hashes and exactly. The bundle of a proven program must be
/// accepted, too.
std::string checkBundle(std::string bytes, unsigned &accepted);

} // namespace gc3::test
