// SPDX-License-Identifier: Apache-2.0
// gc3c: the compiler. The work is in lib/Driver.
#include "gc3/Driver/Driver.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <new>
#include <unistd.h>

/// Reports the error and exits, without leaving a partial file and without allocating memory.
[[noreturn]] static void outOfMemory() {
  static constexpr char text[] = "gc3c: error: out of memory; smaller params or budgets need less\n";
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
  llvm::sys::RunInterruptHandlers();
  std::_Exit(1);
}

/// Flushes standard output. If it could not be written, reports an error and exits; otherwise LLVM would abort.
static void finishOutput() {
  llvm::outs().flush();
  if (!llvm::outs().has_error())
    return;
  llvm::errs() << "gc3c: error: cannot write '-': " << llvm::outs().error().message() << " [cannot-write]\n";
  llvm::outs().clear_error();
  std::_Exit(1);
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialise(argc, argv);
  llvm::outs(); // constructed before std::atexit(), because finishOutput() also runs after --help and --version
  std::atexit(finishOutput);
  std::set_new_handler(outOfMemory);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { outOfMemory(); });
  std::optional<gc3::driver::Options> options = gc3::driver::parseCommandLine(argc, argv);
  int code = options ? gc3::driver::run(*options) : 2;
  finishOutput();
  std::_Exit(code); // skips destructors, which take long for the graphs of a large program
}
