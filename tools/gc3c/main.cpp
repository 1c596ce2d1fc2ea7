// SPDX-License-Identifier: Apache-2.0
// gc3c: the compiler. The work is in lib/Driver.
#include "gc3/Driver/Driver.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <limits>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/// What one stage frees the next one takes. Memory that went back to the system between them would have to be mapped
/// and cleared again, which of a large program takes longer than any stage.
static void keepFreedMemory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

int main(int argc, char **argv) {
  keepFreedMemory();
  llvm::InitLLVM initialise(argc, argv);
  std::optional<gc3::driver::Options> options = gc3::driver::parseCommandLine(argc, argv);
  int code = options ? gc3::driver::run(*options) : 2;
  llvm::outs().flush();
  std::_Exit(code); // a large program's graphs need no tearing down
}
