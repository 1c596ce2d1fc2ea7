// SPDX-License-Identifier: Apache-2.0
// Prints an algorithm as a program of the language.
#pragma once

#include "gc3/Algorithm/Algorithm.h"

namespace llvm {
class raw_ostream;
}

namespace gc3::algorithm {

struct ProgramText {
  std::vector<std::string> comment; ///< comment lines at the top of the text
  std::vector<std::string> imports; ///< imported files
  std::string name;                 ///< name of the program
  std::string implements;           ///< the collective and its arguments, which can refer to the param `inplace`
  /// true for the first program of a file; print() writes the function that loops use only before this program
  bool isFirst = true;
  std::string at = "at";          ///< name of that function
  bool declaresPlacement = false; ///< true: the text declares the param `inplace` with the default true; only for the
                                  ///< first program of a file
  std::string sizes; ///< value of the statement `sizes`, such as "4KiB .. 1MiB"; empty: the program serves all sizes
  size_t mostLines = 50'000; ///< maximum number of lines for operations outside loops; if there are more, lists of
                             ///< numbers replace these lines
  std::string protocol{};    ///< value of the statement `protocol`; empty: Simple
};

/// Writes the program: a block for each step, with loops for operations that all ranks perform in the same way.
/// `collective` is the collective that the program implements. If the program can run in place, `collective` must be
/// the in-place form, in which input and output share memory. In this form, a chunk's place in the output can hold an
/// input chunk that the rank sends in the same step or later. The program then stores the received chunk in scratch.
/// The algorithm must be correct (findError) and have no idle copies (withoutIdleCopies).
void print(llvm::raw_ostream &out, const topology::Topology &topology, const ir::Collective &collective,
           const Demand &demand, const Algorithm &algorithm, const ProgramText &text);

} // namespace gc3::algorithm
