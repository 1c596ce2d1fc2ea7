// SPDX-License-Identifier: Apache-2.0
// What must hold of any file from elsewhere, however broken. Used by the fuzzers and by the unit test that mutates
// files.
#pragma once

#include <string>

namespace gc3::test {

/// Reads the text as MSCCL XML, with small budgets, and what its collective promises. What is accepted must print to
/// GC3-IR that prints the same when read again; it is verified, by hash and exactly with one verdict, and cut into the
/// pieces of the MSCCL runtimes; what the exporter takes of it must come back as the same text. Returns what did not
/// hold, or an empty string. `accepted` counts programs that were read.
std::string checkMscclXml(const std::string &text, unsigned &accepted);

/// Reads the bytes as a bundle, after its checksums were made right, so that what they guard is reached. What is
/// accepted is verified, by hash and exactly with one verdict, and must make a bundle that is accepted, too.
std::string checkBundle(std::string bytes, unsigned &accepted);

} // namespace gc3::test
