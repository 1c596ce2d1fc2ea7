// SPDX-License-Identifier: Apache-2.0
// An algorithm as a program of the language.
#pragma once

#include "gc3/Algorithm/Algorithm.h"

namespace llvm {
class raw_ostream;
}

namespace gc3::algorithm {

struct ProgramText {
  std::vector<std::string> comment; ///< lines above all else
  std::vector<std::string> imports; ///< files
  std::string name;                 ///< of the program
  std::string implements;           ///< the collective with its arguments, which may use a param `inplace`
  bool isFirst = true;              ///< of its file: declares what loops of all programs use
  std::string at = "at";            ///< what the function that loops of all programs use is called
  bool declaresPlacement = false;   ///< declares that param, as true: for the first program of a file
  std::string sizes;                ///< of calls, "4KiB .. 1MiB"; empty: all
  size_t mostLines = 50'000;        ///< for operations in no loop; more become lists of numbers, with fewer words
};

/// Writes the program: a block for each step, with the operations that ranks do all alike as loops. `collective` is
/// what the program implements, in place if it can be: where input and output share memory, what arrives waits in
/// scratch unless what lies in its place has been sent in earlier steps. The algorithm must be right (whyWrong), and
/// without idle copies (withoutIdleCopies).
void print(llvm::raw_ostream &out, const topology::Topology &topology, const ir::Collective &collective,
           const Demand &demand, const Algorithm &algorithm, const ProgramText &text);

} // namespace gc3::algorithm
