// SPDX-License-Identifier: Apache-2.0
// Maps files into memory, and reads pipes and devices in parts.
#include "Input.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

using namespace gc3::driver;
namespace fs = llvm::sys::fs;

static std::unique_ptr<llvm::MemoryBuffer> readStream(fs::file_t file, llvm::StringRef path, size_t limit,
                                                      std::string &problem) {
  constexpr size_t blockSize = 1 << 16;
  llvm::SmallString<0> text;
  for (;;) {
    size_t size = text.size();
    text.resize_for_overwrite(size + blockSize);
    llvm::Expected<size_t> got = fs::readNativeFile(file, {text.data() + size, blockSize});
    if (!got) {
      problem = llvm::toString(got.takeError());
      return nullptr;
    }
    text.resize(size + *got);
    if (*got == 0)
      return llvm::MemoryBuffer::getMemBufferCopy(text, path);
    if (text.size() > limit) {
      problem = "it has more than " + std::to_string(limit) + " bytes and is not a regular file";
      return nullptr;
    }
  }
}

std::unique_ptr<llvm::MemoryBuffer> gc3::driver::readInput(const std::string &path, size_t limit,
                                                           std::string &problem) {
  if (path == "-")
    return readStream(fs::getStdinHandle(), path, limit, problem);
  llvm::Expected<fs::file_t> file = fs::openNativeFileForRead(path);
  if (!file) {
    problem = llvm::toString(file.takeError());
    return nullptr;
  }
  auto close = llvm::make_scope_exit([&] { fs::closeFile(*file); });
  fs::file_status status;
  if (!fs::status(*file, status) && status.type() != fs::file_type::regular_file)
    return readStream(*file, path, limit, problem);
  auto mapped = llvm::MemoryBuffer::getOpenFile(*file, path, status.getSize(), false);
  if (!mapped)
    problem = mapped.getError().message();
  return mapped ? std::move(*mapped) : nullptr;
}
