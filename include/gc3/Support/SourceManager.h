// SPDX-License-Identifier: Apache-2.0
// Owns the text of every file that a compilation reads and maps global offsets back to file, line and column.
#pragma once

#include "gc3/Support/Location.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SourceMgr.h"
#include <vector>

namespace gc3 {

class SourceManager {
public:
  /// Line and column, both counted from 1. Columns count bytes.
  struct LineColumn {
    llvm::StringRef file;
    unsigned line;
    unsigned column;
  };

  /// Adds a copy of `text` under the name that messages show. Lines end with LF, CR LF or CR; text() has LF in place of
  /// a lone CR. Returns the global offset of the first byte, or 0 if all files together would exceed 4 GiB.
  uint32_t add(llvm::StringRef name, llvm::StringRef text);

  llvm::StringRef text(SourceRange range) const;
  LineColumn place(uint32_t offset) const;

  /// Returns the range as the pointers that LLVM's printer needs. The range must be valid.
  llvm::SMRange pointers(SourceRange range) const;
  const llvm::SourceMgr &llvmManager() const { return manager; }

private:
  struct File {
    uint32_t base;
    unsigned buffer; // id in `manager`
  };
  const File &fileOf(uint32_t offset) const;

  llvm::SourceMgr manager;
  std::vector<File> files; // by ascending base
};

} // namespace gc3
