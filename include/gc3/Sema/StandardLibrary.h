// SPDX-License-Identifier: Apache-2.0
// The files of std/, which the compiler carries inside it.
#pragma once

namespace llvm {
class raw_ostream;
}

namespace gc3::sema {

/// One line for each file, `std/name.gc3: summary`, and below it for each function and collective, in their order, a
/// line with the signature, indented by two, and one with its description, indented by four. Both texts are the first
/// sentence of the comment at the head of the file or above the item. docs/std.md describes the format.
void listStandardLibrary(llvm::raw_ostream &out);

} // namespace gc3::sema
