// SPDX-License-Identifier: Apache-2.0
// The files of std/, which are embedded in the compiler.
#pragma once

namespace llvm {
class raw_ostream;
}

namespace gc3::sema {

/// Prints one line for each file, `std/name.gc3: summary`. Below it prints two lines for each function and collective,
/// in their order: the signature, indented by two, and a description, indented by four. Summary and description are the
/// first sentence of the comment at the head of the file or above the item. docs/std.md describes the format.
void listStandardLibrary(llvm::raw_ostream &out);

} // namespace gc3::sema
