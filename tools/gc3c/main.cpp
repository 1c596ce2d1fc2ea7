// SPDX-License-Identifier: Apache-2.0
// gc3c: the compiler. The work is in lib/Driver.
#include "gc3/Driver/Driver.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

int main(int argc, char **argv) {
  llvm::InitLLVM initialise(argc, argv);
  std::optional<gc3::driver::Options> options = gc3::driver::parseCommandLine(argc, argv);
  int code = options ? gc3::driver::run(*options) : 2;
  llvm::outs().flush();
  std::_Exit(code); // a large program's graphs need no tearing down
}
