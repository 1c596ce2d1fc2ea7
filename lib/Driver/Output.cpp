// SPDX-License-Identifier: Apache-2.0
// Atomic replacement of the output file. What is not a regular file (a pipe, a device) is written as it is.
#include "Output.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

namespace fs = llvm::sys::fs;

static std::string writeDirectly(const std::string &path, llvm::StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream out(path, error, fs::OF_None);
  if (error)
    return error.message();
  out << bytes;
  out.close();
  if (!out.has_error())
    return {};
  std::string message = out.error().message();
  out.clear_error();
  return message;
}

static std::string replaceFile(const std::string &path, llvm::StringRef bytes) {
  llvm::Expected<fs::TempFile> temporary = fs::TempFile::create(path + ".%%%%%%.tmp");
  if (!temporary)
    return llvm::toString(temporary.takeError());
  llvm::raw_fd_ostream out(temporary->FD, /*shouldClose=*/false);
  out << bytes;
  out.flush();
  if (out.has_error()) {
    std::string message = out.error().message();
    out.clear_error();
    llvm::consumeError(temporary->discard());
    return message;
  }
  if (llvm::Error error = temporary->keep(path))
    return llvm::toString(std::move(error));
  return {};
}

bool gc3::driver::sameFile(const std::string &a, const std::string &b) {
  return a != "-" && b != "-" && fs::equivalent(a, b);
}

std::string gc3::driver::writeOutput(const std::string &path, llvm::StringRef bytes) {
  fs::file_status status;
  bool special = path == "-" || (!fs::status(path, status) && status.type() != fs::file_type::regular_file);
  if (special)
    return writeDirectly(path, bytes);
  llvm::SmallString<256> target;
  bool resolved = !fs::real_path(path, target);
  return replaceFile(resolved ? target.str().str() : path, bytes);
}
