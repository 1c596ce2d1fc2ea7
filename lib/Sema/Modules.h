// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gc3/Parse/Ast.h"
#include "gc3/Sema/Sema.h"
#include "gc3/Support/EmbeddedFile.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include <memory>

namespace gc3::sema {

/// The main file and everything that it imports. Each file occurs once, after its imports. All files share one set of
/// names.
struct Modules {
  std::vector<std::unique_ptr<const ast::File>> files;
  const ast::File *main = nullptr;            ///< null if it could not be parsed
  llvm::DenseSet<const ast::File *> standard; ///< files that are embedded in the compiler; users cannot open them
};

/// Loads the standard collectives, the main file and its imports. Reports errors to `diags`.
Modules loadModules(SourceManager &sources, Diagnostics &diags, llvm::StringRef name, llvm::StringRef text,
                    const SemaOptions &options, std::vector<std::string> *filesRead);

/// Returns the files of the standard library. A name is the path in an import ("std/ring.gc3").
llvm::ArrayRef<EmbeddedFile> standardFiles();

} // namespace gc3::sema
