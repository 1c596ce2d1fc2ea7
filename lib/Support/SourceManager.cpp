// SPDX-License-Identifier: Apache-2.0
// Maps global offsets to files. Files are stored one after the other with one byte between them, so that the end of a
// file is also a place.
#include "gc3/Support/SourceManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <limits>

using namespace gc3;

/// Returns a copy of the text with LF in place of each lone CR, which editors and compilers treat as a line end. The
/// size does not change, so offsets stay valid.
static std::unique_ptr<llvm::MemoryBuffer> copyWithLineFeeds(llvm::StringRef name, llvm::StringRef text) {
  auto copy = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(text.size(), name);
  char *out = copy->getBufferStart();
  for (size_t i = 0; i != text.size(); ++i)
    out[i] = text[i] == '\r' && text.substr(i + 1, 1) != "\n" ? '\n' : text[i];
  return copy;
}

uint32_t SourceManager::add(llvm::StringRef name, llvm::StringRef text) {
  uint64_t base = 1;
  if (!files.empty())
    base = files.back().base + manager.getMemoryBuffer(files.back().buffer)->getBufferSize() + 1;
  if (base + text.size() >= std::numeric_limits<uint32_t>::max())
    return 0;
  unsigned buffer = manager.AddNewSourceBuffer(copyWithLineFeeds(name, text), llvm::SMLoc());
  files.push_back({static_cast<uint32_t>(base), buffer});
  return static_cast<uint32_t>(base);
}

const SourceManager::File &SourceManager::fileOf(uint32_t offset) const {
  auto after = std::upper_bound(files.begin(), files.end(), offset,
                                [](uint32_t value, const File &file) { return value < file.base; });
  return *std::prev(after);
}

llvm::StringRef SourceManager::text(SourceRange range) const {
  const File &file = fileOf(range.begin);
  return manager.getMemoryBuffer(file.buffer)->getBuffer().substr(range.begin - file.base, range.end - range.begin);
}

SourceManager::LineColumn SourceManager::place(uint32_t offset) const {
  const File &file = fileOf(offset);
  const llvm::MemoryBuffer *buffer = manager.getMemoryBuffer(file.buffer);
  auto [line, column] = manager.getLineAndColumn(
      llvm::SMLoc::getFromPointer(buffer->getBufferStart() + (offset - file.base)), file.buffer);
  return {buffer->getBufferIdentifier(), line, column};
}

llvm::SMRange SourceManager::pointers(SourceRange range) const {
  const File &file = fileOf(range.begin);
  const char *start = manager.getMemoryBuffer(file.buffer)->getBufferStart();
  return {llvm::SMLoc::getFromPointer(start + (range.begin - file.base)),
          llvm::SMLoc::getFromPointer(start + (range.end - file.base))};
}
