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
  std::string implements;           ///< the collective with its arguments, which can use a param `inplace`
  bool isFirst = true;              ///< first program of its file: declares the function that loops use
  std::string at = "at";            ///< name of that function
  bool declaresPlacement = false;   ///< declares the param `inplace` as true; for the first program of a file
  std::string sizes;                ///< sizes of calls, "4KiB .. 1MiB"; empty: all
  size_t mostLines = 50'000;        ///< limit for operations outside loops; beyond it, lists of numbers replace them
};

/// Writes the program: a block for each step, with loops for operations that all ranks perform in the same way.
/// `collective` is the collective that the program implements, in place if possible. If input and output share memory,
/// a received chunk waits in scratch, unless earlier steps have sent the chunk that lies in its place. The algorithm
/// must be correct (findError) and have no idle copies (withoutIdleCopies).
void print(llvm::raw_ostream &out, const topology::Topology &topology, const ir::Collective &collective,
           const Demand &demand, const Algorithm &algorithm, const ProgramText &text);

} // namespace gc3::algorithm
